/** The argument forms of the file tools of pi, opencode, hermes and Claude Code. */
import type { CallEvent } from './session-events.js';

export interface ExactEdit {
  before: string;
  after: string;
  /** Replace every occurrence. */
  all: boolean;
}

export function exactEdits(args: Record<string, unknown>): ExactEdit[] {
  const list = Array.isArray(args.edits) ? args.edits : [args];
  return list.flatMap((one: Record<string, unknown>) => {
    const before = one?.oldText ?? one?.old_string ?? one?.oldString;
    const after = one?.newText ?? one?.new_string ?? one?.newString;
    const all = one?.replace_all === true || one?.replaceAll === true;
    return typeof before === 'string' && typeof after === 'string' ? [{ before, after, all }] : [];
  });
}

/**
 * The content after the edits, or null when it cannot be told. Every old text must occur exactly once (unless `all`).
 * pi matches all of them against the original; where that fails they are tried one after the other, as Claude Code does.
 */
export function applyEdits(content: string, edits: ExactEdit[]): string | null {
  if (edits.length === 0) return null;
  return atOnce(content, edits) ?? oneByOne(content, edits);
}

function atOnce(content: string, edits: ExactEdit[]): string | null {
  const places = edits.map(({ before, all }) => (all ? -1 : onlyPlace(content, before)));
  if (places.some((place) => place < 0)) return null;
  const order = edits.map((edit, index) => ({ ...edit, place: places[index]! })).sort((a, b) => b.place - a.place);
  let result = content;
  let limit = content.length;
  for (const { before, after, place } of order) {
    if (place + before.length > limit) return null;
    result = result.slice(0, place) + after + result.slice(place + before.length);
    limit = place;
  }
  return result;
}

function oneByOne(content: string, edits: ExactEdit[]): string | null {
  let result = content;
  for (const { before, after, all } of edits) {
    const place = all ? result.indexOf(before) : onlyPlace(result, before);
    if (before === '' || place < 0) return null;
    result = all
      ? result.replaceAll(before, () => after)
      : result.slice(0, place) + after + result.slice(place + before.length);
  }
  return result;
}

/** Where `text` occurs when it does so exactly once, else -1. */
function onlyPlace(content: string, text: string): number {
  const first = text === '' ? -1 : content.indexOf(text);
  return first >= 0 && content.indexOf(text, first + 1) < 0 ? first : -1;
}

const TRUNCATED =
  /\[(?:Showing lines|\d+ more lines|Output truncated|Truncated|.*(?:offset|limit)=)[^\n]*\]?\s*$|truncated/i;
const TAIL = 200;

/** Whether a read result is the whole file: no range was asked for, and the end does not say that more follows. */
export function isFullRead(call: Pick<CallEvent, 'arguments' | 'output'>): boolean {
  const { offset, limit } = call.arguments;
  return (
    call.output !== null && offset === undefined && limit === undefined && !TRUNCATED.test(call.output.slice(-TAIL))
  );
}
