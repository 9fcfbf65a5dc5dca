/**
 * A session as the gateway recorded it, for the replay. On the wire a tool result is only text: whether a call failed is
 * read from the words each tool of pi uses, and the working directory from the harness's system prompt.
 */
import type { Transcript, TranscriptCall } from '../record/transcript.js';
import { directoriesIn } from '../record/working-directory.js';
import { asObject } from './pi-session.js';
import type { CallEvent, SessionEvent, SessionTrace } from './session-events.js';

/** `cwd`: used when the system prompt names none; then the root of the file system. */
export function recordedTrace({ session, steps }: Transcript, cwd = session.source?.cwd ?? '/'): SessionTrace {
  const events: SessionEvent[] = [];
  const calls = new Map<string, CallEvent>();
  const asked = new Set<string>();
  let folder: string | null = null;
  let rewritten = false;
  for (const step of steps) {
    if (step.kind === 'system') folder = statedFolder(step.text) ?? folder;
    else if (step.kind === 'rewrite') rewritten = true;
    else if (step.kind === 'user') {
      // A nudge or a summary is nothing that somebody asked for.
      if (step.mark !== undefined) continue;
      // After a rewrite the harness repeats what it kept of the history.
      if (!(rewritten && asked.has(step.text))) events.push({ kind: 'user', text: step.text });
      asked.add(step.text);
    } else if (step.kind === 'tool') {
      const call = calls.get(step.toolCallId);
      if (!call) continue;
      call.output = step.text;
      call.isError = step.isError ?? saysFailure(call.name, step.text);
      if (step.exitCode !== undefined) call.exitCode = step.exitCode;
    } else if (step.kind === 'assistant' && !step.auxiliary && step.status === 'ok') {
      if (step.text !== '') events.push({ kind: 'text', text: step.text });
      for (const call of step.toolCalls) if (!calls.has(call.id)) events.push(startCall(call, calls));
    }
  }
  return { id: session.id, cwd: (folder ?? cwd).replace(/\/+$/, '') || '/', events };
}

/** A blocked call never ran: only the notice that the harness got in its place is part of the session. */
function startCall(call: TranscriptCall, calls: Map<string, CallEvent>): SessionEvent {
  if (call.verdict === 'block') return { kind: 'text', text: `[tackroom] blocked call to \`${call.name}\`` };
  const event: CallEvent = {
    kind: 'call',
    name: call.name,
    arguments: parseArguments(call.arguments),
    output: null,
    isError: false,
  };
  calls.set(call.id, event);
  return event;
}

function parseArguments(text: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

const statedFolder = (system: string): string | null =>
  directoriesIn(system).find((dir) => dir.startsWith('/')) ?? null;

const READ_FAILURE =
  /^(?:ENOENT|EACCES|EISDIR|ENOTDIR|Error\b|File not found|Offset \d+ is beyond|Validation failed|Tool .* not found)/;

function saysFailure(tool: string, text: string): boolean {
  if (tool === 'write' || tool === 'edit') return !/^Successfully /.test(text);
  if (tool === 'read') return READ_FAILURE.test(text);
  return /Command exited with code -?\d+\s*$|Command (?:timed out|aborted)/.test(text);
}
