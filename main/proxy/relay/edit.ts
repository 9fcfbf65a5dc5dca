/** What the proxy changes in an answer that it otherwise passes on as it came. */
import type { Finish } from '../answer.js';
import type { SampledCall } from '../services.js';

export interface Edit {
  /** The calls of the answer in its order, with the ids that the harness is to see; null: blocked. */
  calls: readonly (SampledCall | null)[];
  /** Stands after the text; null when nothing was blocked. */
  notice: string | null;
  finish: Finish;
  /** Text came before. */
  hasText: boolean;
}

/** How one dialect is held back and changed. */
export interface Editor {
  /** From the first event for which this is true on, everything waits for the verdict. */
  holdsFrom(event: Record<string, unknown>): boolean;
  /** Whether an event with this data ends the answer. */
  isLast(data: string): boolean;
  /** The held events after the edit. */
  stream(held: readonly Record<string, unknown>[], edit: Edit): Record<string, unknown>[];
  /** A whole answer after the edit. */
  document(answer: Record<string, unknown>, edit: Edit): Record<string, unknown>;
  /** Whether the events have a name beside their data. */
  named: boolean;
  /** Ends a stream whose answer is whole but that lacks its last event; '' when it came. */
  tail(held: readonly { data: string | null }[]): string;
}

export type Json = Record<string, unknown>;

/** What is longer is no event, and is not kept in memory. */
const MAX_SHARED = 65_536;
let lastText = '';
let lastValue: unknown;

/** JSON.parse that several readers of the same event share: nobody may change what it returns. Throws SyntaxError. */
export function parseShared(text: string): unknown {
  if (text === lastText) return lastValue;
  const value: unknown = JSON.parse(text);
  if (text.length <= MAX_SHARED) [lastText, lastValue] = [text, value];
  return value;
}

/** The event, when its data holds one of these words; otherwise nobody has to read it. */
export function eventWith(data: string, ...words: string[]): Json | null {
  if (!words.some((word) => data.includes(word))) return null;
  try {
    return record(parseShared(data));
  } catch {
    return null;
  }
}

/** A value that should be a word. Never throws: `String` does for objects with a `toString` of their own. */
export const word = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
export const record = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(record) : []);

/** As a paragraph of its own. */
export const paragraph = ({ notice, hasText }: Pick<Edit, 'notice' | 'hasText'>): string =>
  notice === null ? '' : hasText ? `\n\n${notice}` : notice;
