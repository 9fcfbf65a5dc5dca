/** Whether bytes are one JSON value (RFC 8259), without building it. */
import { Limits } from './layout.js';

const SPACE = new Uint8Array(256);
for (const c of [32, 9, 10, 13]) SPACE[c] = 1;
const isDigit = (c: number): boolean => c >= 48 && c <= 57;
const isHex = (c: number): boolean => isDigit(c) || (c >= 97 && c <= 102) || (c >= 65 && c <= 70);

/** First byte after the string that opens at `at`, or -1. */
export function stringEnd(b: Uint8Array, at: number, to: number): number {
  for (let i = at + 1; i < to; i++) {
    const c = b[i]!;
    if (c === 34) return i + 1;
    if (c < 32) return -1;
    if (c !== 92) continue;
    const e = b[++i] ?? 0;
    if (i >= to) return -1;
    if (e === 117) {
      if (i + 4 >= to || !isHex(b[i + 1]!) || !isHex(b[i + 2]!) || !isHex(b[i + 3]!) || !isHex(b[i + 4]!)) return -1;
      i += 4;
    } else if (e !== 34 && e !== 92 && e !== 47 && e !== 98 && e !== 102 && e !== 110 && e !== 114 && e !== 116)
      return -1;
  }
  return -1;
}

function numberEnd(b: Uint8Array, at: number, to: number): number {
  let i = at;
  if (b[i] === 45) i++;
  if (i >= to || !isDigit(b[i]!)) return -1;
  if (b[i] === 48) i++;
  else while (i < to && isDigit(b[i]!)) i++;
  if (i < to && b[i] === 46) {
    i++;
    if (i >= to || !isDigit(b[i]!)) return -1;
    while (i < to && isDigit(b[i]!)) i++;
  }
  if (i < to && (b[i] === 101 || b[i] === 69)) {
    i++;
    if (i < to && (b[i] === 43 || b[i] === 45)) i++;
    if (i >= to || !isDigit(b[i]!)) return -1;
    while (i < to && isDigit(b[i]!)) i++;
  }
  return i;
}

const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word));

function wordEnd(b: Uint8Array, at: number, to: number): number {
  for (const word of WORDS) {
    if (at + word.length > to) continue;
    let same = 0;
    while (same < word.length && b[at + same] === word[same]) same++;
    if (same === word.length) return at + same;
  }
  return -1;
}

/** True for an object, an array or a string, deeper than `Limits.jsonDepth` for none. */
export function isJson(b: Uint8Array, from: number, to: number): boolean {
  const stack = new Uint8Array(Limits.jsonDepth);
  let depth = 0;
  let i = from;
  while (i < to && SPACE[b[i]!]) i++;
  const first = b[i];
  if (i >= to || (first !== 123 && first !== 91 && first !== 34)) return false;
  // 0: a value, 1: a value or `]`, 2: a key or `}`, 3: a key, 4: after a value
  let want = 0;
  for (;;) {
    while (i < to && SPACE[b[i]!]) i++;
    if (i >= to) return want === 4 && depth === 0;
    const c = b[i]!;
    if (want === 4) {
      if (depth === 0) return false;
      const object = stack[depth - 1] === 123;
      i++;
      if (c === 44) want = object ? 3 : 0;
      else if (c === (object ? 125 : 93)) depth--;
      else return false;
    } else if (want === 2 || want === 3) {
      if (c === 125 && want === 2) {
        i++;
        depth--;
        want = 4;
        continue;
      }
      if (c !== 34) return false;
      i = stringEnd(b, i, to);
      if (i < 0) return false;
      while (i < to && SPACE[b[i]!]) i++;
      if (i >= to || b[i] !== 58) return false;
      i++;
      want = 0;
    } else if (c === 93 && want === 1) {
      i++;
      depth--;
      want = 4;
    } else if (c === 123 || c === 91) {
      if (depth === Limits.jsonDepth) return false;
      stack[depth++] = c;
      i++;
      want = c === 123 ? 2 : 1;
    } else {
      i = c === 34 ? stringEnd(b, i, to) : c === 45 || isDigit(c) ? numberEnd(b, i, to) : wordEnd(b, i, to);
      if (i < 0) return false;
      want = 4;
    }
  }
}
