/** A recorded session as a document for others: sanitized ATIF, or (raw) with the exact tokens for this machine only. */
import { TackroomError } from '../../contract/errors.js';
import type { ToolDefinition } from '../engine/protocol.js';
import { Recorder } from '../record/recorder.js';
import type { AssistantStep, Transcript } from '../record/transcript.js';
import { sanitizeSession } from '../sanitize/sanitize.js';
import type { Store } from '../store/store.js';
import type { SessionInput, TrajectoryMetrics, TrajectoryStep } from './session-input.js';
import { toAtif } from './to-atif.js';

export interface ExportOptions {
  format: string;
  raw: boolean;
}

/** Errors: NOT_FOUND, UNSUPPORTED format, REFUSED when the second scan of the cleaned copy still finds something. */
export function exportSession(store: Store, id: string, options: ExportOptions): unknown {
  if (options.format !== 'atif' && options.format !== 'native')
    throw new TackroomError(
      'UNSUPPORTED',
      `Sessions cannot be exported as ${options.format}.`,
      'Use --format atif or native.',
    );
  const recorder = new Recorder(store);
  const transcript = recorder.sessionTranscript(id);
  if (!transcript)
    throw new TackroomError('NOT_FOUND', `There is no session ${id}.`, 'List them with `tackroom sessions list`.');
  const input = trajectoryOf(store, recorder, transcript, options.raw);
  const document: unknown =
    options.format === 'atif' ? toAtif(input, { mode: options.raw ? 'raw' : 'published' }) : input;
  if (options.raw) return document;
  const { records, withheld } = sanitizeSession([document]);
  if (withheld.length > 0)
    throw new TackroomError(
      'REFUSED',
      `The cleaned copy of ${id} still looks as if it held something private.`,
      'Look at it with `tackroom sessions show`; --raw writes a local file.',
    );
  return records[0];
}

/** The recorded transcript in the neutral form; token ids and log-probabilities only when `withTokens`. */
export function trajectoryOf(
  store: Store,
  recorder: Recorder,
  transcript: Transcript,
  withTokens: boolean,
): SessionInput {
  const steps: TrajectoryStep[] = [];
  const owner = new Map<string, TrajectoryStep>();
  for (const step of transcript.steps) {
    if (step.kind === 'assistant') {
      const agent = agentStep(recorder, step, withTokens);
      for (const call of agent.toolCalls ?? []) owner.set(call.id, agent);
      steps.push(agent);
    } else if (step.kind === 'tool') {
      const agent = owner.get(step.toolCallId);
      const exit = /Command exited with code (\d+)\s*$/.exec(step.text)?.[1];
      const result = {
        callId: step.toolCallId,
        text: step.text,
        ...(exit && { isError: true, exitCode: Number(exit) }),
      };
      if (agent) agent.results = [...(agent.results ?? []), result];
      else steps.push({ kind: 'system', text: step.text, at: step.at });
    } else if (step.kind === 'rewrite')
      steps.push({
        kind: 'system',
        text: '',
        at: step.at,
        contextManagement: { type: 'compaction', boundary: 'truncate' },
      });
    else steps.push({ kind: step.kind, text: step.text, at: step.at });
  }
  return {
    id: transcript.session.id,
    harness: transcript.session.harness,
    model: transcript.session.model,
    createdAt: transcript.session.createdAt,
    tools: toolsOf(store, recorder, transcript.session.id),
    steps,
  };
}

function agentStep(recorder: Recorder, step: AssistantStep, withTokens: boolean): TrajectoryStep {
  const sampled = step.requestId !== null && !step.synthetic && step.promptTokens + step.completionTokens > 0;
  const metrics: TrajectoryMetrics = { promptTokens: step.promptTokens, completionTokens: step.completionTokens };
  const tokens = withTokens && step.requestId !== null ? recorder.requestTokens(step.requestId) : undefined;
  if (tokens)
    Object.assign(metrics, {
      promptIds: tokens.promptIds,
      completionIds: tokens.completionIds,
      logprobs: tokens.logprobs,
    });
  const verdicts = step.toolCalls.filter((call) => call.verdict !== 'allow');
  return {
    kind: 'agent',
    text: step.text,
    at: step.at,
    toolCalls: step.toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    ...(sampled && { metrics }),
    adapterHash: step.adapterHash,
    synthetic: step.synthetic,
    verdicts: verdicts.map((call) => ({
      callId: call.id,
      verdict: call.verdict,
      rule: call.rule ?? '',
      reason: call.reason ?? '',
    })),
  };
}

function toolsOf(store: Store, recorder: Recorder, sessionId: string): ToolDefinition[] {
  const request = store.request.list({ where: { sessionId } }).find((r) => r.toolsHash !== null);
  return request?.toolsHash ? (recorder.messages.tools(request.toolsHash) ?? []) : [];
}
