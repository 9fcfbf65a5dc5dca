/** ATIF documents 1.0-1.8 as sessions; embedded subagents become sessions of their own. */
import { createHash } from 'node:crypto';
import { TackroomError } from '../../contract/errors.js';
import type { ChatMessage } from '../engine/protocol.js';
import {
  fileFingerprint,
  type Place,
  ROOT,
  type SessionReader,
  type SessionUnit,
  type SessionWriter,
  type SourceFile,
  Unreadable,
} from '../harness/sessions/session-writer.js';
import { wholeObject } from '../harness/sessions/whole-json.js';
import { fromAtif } from './from-atif.js';
import type { SessionInput, TrajectoryStep } from './session-input.js';

/** Subagents of subagents beyond it are no real run's. */
const MAX_DEPTH = 16;

export const atifReader: SessionReader = {
  harness: 'atif',
  recognises: ({ head }) => /^\s*\{[\s\S]*?"schema_version"\s*:\s*"ATIF-v/.test(head.toString('utf8')),
  *units(file) {
    const document = wholeObject(file);
    yield* unitsOf(file, document, null, '0', 0);
  },
};

function* unitsOf(
  file: SourceFile,
  document: Record<string, unknown>,
  parent: string | null,
  path: string,
  depth: number,
): Generator<SessionUnit> {
  const id = idOf(document, file, path);
  yield {
    key: `atif\n${file.path}\n${path}`,
    fingerprint: fileFingerprint(file),
    read: (writer) => write(inputOf(document), id, parent, writer),
  };
  const { subagent_trajectories: below } = document;
  if (!Array.isArray(below) || depth >= MAX_DEPTH) return;
  for (const [i, child] of below.entries())
    if (typeof child === 'object' && child !== null)
      yield* unitsOf(file, child as Record<string, unknown>, id, `${path}.${i}`, depth + 1);
}

/** A document need not have an id: then its own text names it. */
function idOf(document: Record<string, unknown>, file: SourceFile, path: string): string {
  const { trajectory_id: own, session_id: session } = document;
  if (typeof own === 'string' && own !== '') return own;
  if (typeof session === 'string' && session !== '' && path === '0') return session;
  return createHash('sha256').update(file.head).update(`${file.size} ${path}`).digest('hex').slice(0, 32);
}

function inputOf(document: Record<string, unknown>): SessionInput {
  try {
    return fromAtif(document);
  } catch (error) {
    if (error instanceof TackroomError) throw new Unreadable(error.message, { cause: error });
    throw error;
  }
}

function write(input: SessionInput, id: string, parent: string | null, writer: SessionWriter): void {
  writer.begin({
    harness: 'atif',
    id,
    createdAt: Number.isFinite(input.createdAt) ? input.createdAt : 0,
    cwd: null,
    harnessVersion: input.harnessVersion ?? null,
    parent: parent === null ? null : { id: parent, kind: 'subagent' },
  });
  writer.describe({ model: input.model });
  const toolsHash = input.tools.length > 0 ? writer.tools(input.tools) : null;
  let place: Place = ROOT;
  for (const [i, step] of input.steps.entries()) {
    if (step.kind === 'agent') place = agentStep(writer, place, step, { input, i, toolsHash });
    else if (step.contextManagement?.boundary === 'replace')
      place = (step.results ?? []).reduce(
        (at, { text }) => writer.message(at, { role: 'user', content: text }, 'summary'),
        ROOT,
      );
    else if (step.text !== '') place = writer.message(place, { role: step.kind, content: step.text });
  }
}

function agentStep(
  writer: SessionWriter,
  at: Place,
  step: TrajectoryStep,
  { input, i, toolsHash }: { input: SessionInput; i: number; toolsHash: string | null },
): Place {
  const calls = (step.toolCalls ?? []).map(({ id, name, arguments: args }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: args },
  }));
  const answer: ChatMessage = {
    role: 'assistant',
    content: step.text,
    ...(step.reasoning !== undefined && { reasoning_content: step.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  let place = step.copied
    ? writer.message(at, answer)
    : writer.request(at, {
        key: `step ${i + 1}`,
        at: step.at !== null && Number.isFinite(step.at) ? step.at : input.createdAt,
        model: input.model,
        provider: input.harness,
        answer,
        finish: calls.length > 0 ? 'tool_calls' : 'stop',
        status: 'ok',
        error: null,
        promptTokens: Math.max(0, step.metrics?.promptTokens ?? 0),
        completionTokens: Math.max(0, step.metrics?.completionTokens ?? 0),
        durationMs: 0,
        synthetic: step.synthetic ?? false,
        toolsHash,
      });
  for (const { callId, text, exitCode, isError } of step.results ?? [])
    place = writer.result(place, {
      callId: callId ?? '',
      text,
      exitCode: exitCode ?? null,
      isError: isError ?? (exitCode !== undefined && exitCode !== 0),
    });
  return place;
}
