/**
 * Token ids and log-probabilities in JSON records: they say the text once more, in numbers or in pieces that no detector knows.
 * The lists stay, empty.
 */
import { TOKENS } from './pseudonyms.js';
import { indexOf } from './scan/index-of.js';
import type { Span } from './span.js';

/** Ends of the names. */
export const DROPPED_NAMES = ['token_ids', 'logprobs', 'Ids'];
const NAMES = DROPPED_NAMES.map((name) => Buffer.from(`${name}"`));
const NAME =
  /"(?:(?:prompt|completion|input|output|generated|response)?_?token_ids|(?:top_|prompt_|token_|completion_)?logprobs|(?:prompt|completion|token|input|output)(?:Token)?Ids)"$/;
const LONGEST_NAME = 40;
const NEWLINE = 10;
/** How a list of numbers, of lists or of tokens begins; an object of lists. */
const LIST = /^\[\s*(?:-?\d|null\b|\[|\{\s*"(?:token|logprob|bytes|id|\d+|[^"]{1,20}"\s*:\s*-\d))/;
const OBJECT = /^\{\s*"(?:content|refusal|tokens?|token_logprobs|top_logprobs|text_offset)"\s*:\s*[[{n]/;
const HEAD = 120;

/** What stands between the brackets of such lists in the JSON lines of `input[from..to)`. */
export function droppedFields(input: Uint8Array, from: number, to: number): Span[] {
  const bytes = Buffer.from(input.buffer, input.byteOffset, to);
  return NAMES.flatMap((name) => [...fieldsOf(bytes, name, from)]).sort((a, b) => a.start - b.start);
}

function* fieldsOf(bytes: Buffer, name: Buffer, from: number): Generator<Span> {
  let line = { end: -1, isJson: false };
  for (let at = indexOf(bytes, from, bytes.length, name); at >= 0; ) {
    if (at > line.end) line = lineAt(bytes, at, from);
    const end = at + name.length;
    let next = line.isJson ? end : line.end;
    const list = line.isJson ? listAfter(bytes, end, line.end) : null;
    // A line whose brackets do not match is no JSON: it is read once.
    if (list === 'open') next = line.end;
    else if (list && NAME.test(bytes.toString('latin1', Math.max(from, end - LONGEST_NAME), end))) {
      if (list.end > list.start) yield { ...list, family: TOKENS, certainty: 'checksum', value: '' };
      next = list.end;
    }
    at = next >= bytes.length ? -1 : indexOf(bytes, next, bytes.length, name);
  }
}

function lineAt(b: Buffer, at: number, from: number): { end: number; isJson: boolean } {
  const start = Math.max(from, b.lastIndexOf(NEWLINE, at) + 1);
  const end = b.indexOf(NEWLINE, at);
  const first = b[blanks(b, start, b.length)];
  return { end: end < 0 ? b.length : end, isJson: first === 123 || first === 91 };
}

/** The inside of the list or object after the name that ends at `at`; 'open': it does not end on its line. */
function listAfter(b: Buffer, at: number, lineEnd: number): { start: number; end: number } | 'open' | null {
  let open = blanks(b, at, lineEnd);
  if (b[open] !== 58) return null;
  open = blanks(b, open + 1, lineEnd);
  const head = b.toString('latin1', open, Math.min(lineEnd, open + HEAD));
  if (!LIST.test(head) && !OBJECT.test(head)) return null;
  const close = closing(b, open, lineEnd);
  return close < 0 ? 'open' : { start: open + 1, end: close };
}

function blanks(b: Buffer, at: number, to: number): number {
  let i = at;
  while (i < to && (b[i] === 32 || b[i] === 9 || b[i] === 13)) i++;
  return i;
}

/** Where the bracket at `open` is closed; -1: nowhere before `to`. */
function closing(b: Buffer, open: number, to: number): number {
  let depth = 0;
  for (let i = open; i < to; i++) {
    const c = b[i]!;
    if (c === 34) {
      for (i++; i < to && b[i] !== 34; i++) if (b[i] === 92) i++;
    } else if (c === 91 || c === 123) depth++;
    else if ((c === 93 || c === 125) && --depth === 0) return i;
  }
  return -1;
}
