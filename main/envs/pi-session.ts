/**
 * Reads a session file of pi (JSONL, formats.md 1.5): version 3 is a tree of which the path from the last entry to the
 * root is the active branch; older files have no ids and are linear. A torn last line is left out.
 */
import type { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { type PiContent, PiEntry, PiMessage, type PiPart } from '../harness/sessions/pi-format.js';
import type { CallEvent, SessionEvent, SessionTrace } from './session-events.js';

/** BAD_ARGUMENT when the text is no pi session. */
export function readPiSession(text: string): SessionTrace {
  const [header, ...entries] = text.split('\n').flatMap(parseLine);
  if (header?.type !== 'session' || header.cwd === undefined)
    throw new TackroomError(
      'BAD_ARGUMENT',
      'This is no pi session: its first line is no session header with a working directory.',
    );
  const events: SessionEvent[] = [];
  const calls = new Map<string, CallEvent>();
  for (const entry of activeBranch(entries)) if (entry.type === 'message') addMessage(entry, events, calls);
  return { id: header.id ?? '', cwd: header.cwd.replace(/\/+$/, '') || '/', events };
}

function parseLine(line: string): PiEntry[] {
  if (line.trim() === '') return [];
  try {
    return [PiEntry.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}

function activeBranch(entries: PiEntry[]): PiEntry[] {
  const byId = new Map(entries.flatMap((entry) => (entry.id === undefined ? [] : [[entry.id, entry] as const])));
  if (byId.size === 0) return entries;
  const path: PiEntry[] = [];
  const seen = new Set<string>();
  let at = entries.findLast((entry) => entry.id !== undefined);
  while (at?.id !== undefined && !seen.has(at.id)) {
    seen.add(at.id);
    path.push(at);
    at = at.parentId == null ? undefined : byId.get(at.parentId);
  }
  return path.reverse();
}

function addMessage(entry: PiEntry, events: SessionEvent[], calls: Map<string, CallEvent>): void {
  const parsed = PiMessage.safeParse(entry.message);
  if (!parsed.success) return;
  const { role, content, toolCallId, isError } = parsed.data;
  if (role === 'user') events.push({ kind: 'user', text: contentText(content) });
  else if (role === 'toolResult') {
    const call = calls.get(toolCallId ?? '');
    if (call) Object.assign(call, { output: contentText(content), isError: isError ?? false });
  } else if (role === 'assistant') {
    for (const part of typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])) {
      if (part.type === 'text') events.push({ kind: 'text', text: part.text ?? '' });
      else if (part.type === 'toolCall') events.push(startCall(part, calls));
    }
  }
}

function startCall(part: z.infer<typeof PiPart>, calls: Map<string, CallEvent>): CallEvent {
  const call: CallEvent = {
    kind: 'call',
    name: part.name ?? '',
    arguments: asObject(part.arguments),
    output: null,
    isError: false,
  };
  if (part.id !== undefined) calls.set(part.id, call);
  return call;
}

export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function contentText(content: z.infer<typeof PiContent>): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
}
