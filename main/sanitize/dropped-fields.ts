/**
 * Token ids and log-probabilities in JSON records: they say the text once more, in numbers or in pieces that no detector knows.
 * The lists stay, empty.
 */
import { TOKENS } from './pseudonyms.js';
import { indexOf } from './scan/index-of.js';
import type { Span } from './span.js';

/** Ends of the names. */
const NAMES = [Buffer.from('token_ids"'), Buffer.from('logprobs"'), Buffer.from('Ids"')];
const NAME =
  /"(?:(?:prompt|completion|input|output|generated|response)?_?token_ids|(?:top_|prompt_|token_|completion_)?logprobs|(?:prompt|completion|token|input|output)(?:Token)?Ids)"$/;
const LONGEST_NAME = 40;
/** How a list of numbers, of lists or of tokens begins; an object of lists. */
const LIST = /^\[\s*(?:-?\d|null\b|\[|\{\s*"(?:token|logprob|bytes|id|\d+|[^"]{1,20}"\s*:\s*-\d))/;
const OBJECT = /^\{\s*"(?:content|refusal|tokens?|token_logprobs|top_logprobs|text_offset)"\s*:\s*[[{n]/;
const HEAD = 120;

/** What stands between the brackets of such lists in `input[from..to)`. */
export function droppedFields(input: Uint8Array, from: number, to: number): Span[] {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const spans: Span[] = [];
  for (const name of NAMES) {
    let at = indexOf(bytes, from, to, name);
    while (at >= 0) {
      const end = at + name.length;
      const list = listAfter(bytes, end, to);
      const field = list && NAME.test(bytes.toString('latin1', Math.max(from, end - LONGEST_NAME), end));
      if (field && list.end > list.start) spans.push({ ...list, family: TOKENS, certainty: 'checksum', value: '' });
      at = indexOf(bytes, field ? list.end : end, to, name);
    }
  }
  return spans.sort((a, b) => a.start - b.start);
}

/** The inside of the list or object after the name that ends at `at`. */
function listAfter(b: Buffer, at: number, to: number): { start: number; end: number } | null {
  let open = blanks(b, at, to);
  if (b[open] !== 58) return null;
  open = blanks(b, open + 1, to);
  const head = b.toString('latin1', open, Math.min(to, open + HEAD));
  if (!LIST.test(head) && !OBJECT.test(head)) return null;
  const close = closing(b, open, to);
  return close < 0 ? null : { start: open + 1, end: close };
}

function blanks(b: Buffer, at: number, to: number): number {
  let i = at;
  while (i < to && (b[i] === 32 || b[i] === 9 || b[i] === 13)) i++;
  return i;
}

/** Where the bracket at `open` is closed on its line; -1: nowhere. */
function closing(b: Buffer, open: number, to: number): number {
  let depth = 0;
  for (let i = open; i < to; i++) {
    const c = b[i]!;
    if (c === 10) return -1;
    if (c === 34) {
      for (i++; i < to && b[i] !== 34 && b[i] !== 10; i++) if (b[i] === 92) i++;
    } else if (c === 91 || c === 123) depth++;
    else if ((c === 93 || c === 125) && --depth === 0) return i;
  }
  return -1;
}
