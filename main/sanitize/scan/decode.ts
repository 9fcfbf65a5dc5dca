/**
 * Writes a text anew with its escapes read, and notes where each piece came from. Every function stops when `limit` bytes are
 * written and returns the position it has read to.
 */
import type { Bytes, Ints } from './growable.js';
import { BREAKPOINT, View } from './layout.js';

export interface Target {
  arena: Bytes;
  maps: Ints;
}

const hex = (c: number): number =>
  c >= 48 && c <= 57 ? c - 48 : c >= 97 && c <= 102 ? c - 87 : c >= 65 && c <= 70 ? c - 55 : -1;

/** Value of `count` hex digits at `at`, or -1. */
export function hexValue(b: Uint8Array, at: number, count: number, to: number): number {
  if (at + count > to) return -1;
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const digit = hex(b[i]!);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

function writeUtf8(arena: Bytes, code: number): void {
  const { bytes } = arena;
  if (code < 0x80) bytes[arena.length++] = code;
  else if (code < 0x800) {
    bytes[arena.length++] = 0xc0 | (code >> 6);
    bytes[arena.length++] = 0x80 | (code & 63);
  } else if (code < 0x10000) {
    bytes[arena.length++] = 0xe0 | (code >> 12);
    bytes[arena.length++] = 0x80 | ((code >> 6) & 63);
    bytes[arena.length++] = 0x80 | (code & 63);
  } else {
    bytes[arena.length++] = 0xf0 | (code >> 18);
    bytes[arena.length++] = 0x80 | ((code >> 12) & 63);
    bytes[arena.length++] = 0x80 | ((code >> 6) & 63);
    bytes[arena.length++] = 0x80 | (code & 63);
  }
}

/** From `position` of the new text on it goes on at `parent`; what stood before it ended at `gap`. */
function breakpoint(maps: Ints, position: number, parent: number, gap: number): void {
  const at = maps.push(BREAKPOINT);
  maps.values[at] = position;
  maps.values[at + 1] = parent;
  maps.values[at + 2] = gap;
}

/** Length of what one escape stands for in the source; its bytes are written. 0: not an escape. */
type Unit = (b: Uint8Array, at: number, to: number, arena: Bytes) => number;

/** \uXXXX at `at`, a surrogate pair as one character. A lone surrogate is written as three bytes. */
function unicodeEscape(b: Uint8Array, at: number, to: number, arena: Bytes): number {
  const code = hexValue(b, at + 2, 4, to);
  if (code < 0) return 0;
  if (code >= 0xd800 && code < 0xdc00 && at + 7 < to && b[at + 6] === 92 && b[at + 7] === 117) {
    const low = hexValue(b, at + 8, 4, to);
    if (low >= 0xdc00 && low < 0xe000) {
      writeUtf8(arena, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
      return 12;
    }
  }
  writeUtf8(arena, code);
  return 6;
}

function one(arena: Bytes, byte: number, length: number): number {
  arena.bytes[arena.length++] = byte;
  return length;
}

/** Escapes of a JSON string. */
const jsonUnit: Unit = (b, at, to, arena) => {
  const c = b[at + 1] ?? 0;
  if (c === 117) return unicodeEscape(b, at, to, arena);
  return one(arena, c === 110 ? 10 : c === 116 ? 9 : c === 114 ? 13 : c === 98 ? 8 : c === 102 ? 12 : c, 2);
};

/** Escapes that programs and shells write into text; others stay, such as the backslashes of Windows paths. */
const textUnit: Unit = (b, at, to, arena) => {
  if (at + 1 >= to) return 0;
  const c = b[at + 1]!;
  if (c === 34 || c === 39 || c === 96 || c === 92 || c === 47) return one(arena, c, 2);
  if (c === 110) return one(arena, 10, 2);
  if (c === 114) return one(arena, 13, 2);
  if (c === 116) return one(arena, 9, 2);
  if (c === 117) return unicodeEscape(b, at, to, arena);
  if (c === 120) {
    const value = hexValue(b, at + 2, 2, to);
    return value < 0 ? 0 : one(arena, value, 4);
  }
  if (c === 101) return at + 2 < to && b[at + 2] === 91 ? one(arena, 27, 2) : 0;
  if (c === 48 && b[at + 2] === 51 && b[at + 3] === 51 && at + 3 < to) return one(arena, 27, 4);
  return 0;
};

const percentUnit: Unit = (b, at, to, arena) => {
  const value = hexValue(b, at + 1, 2, to);
  return value < 0 ? 0 : one(arena, value, 3);
};

const ENTITIES: [string, number][] = [
  ['&quot;', 34],
  ['&amp;', 38],
  ['&lt;', 60],
  ['&gt;', 62],
  ['&apos;', 39],
  ['&#34;', 34],
  ['&#39;', 39],
  ['&#039;', 39],
  ['&#x27;', 39],
  ['&#x22;', 34],
  ['&#38;', 38],
  ['&#x2F;', 47],
  ['&#x2f;', 47],
  ['&#47;', 47],
  ['&#61;', 61],
  ['&#x3D;', 61],
  ['&#x3d;', 61],
  ['&#64;', 64],
  ['&#x40;', 64],
  ['&lowbar;', 95],
  ['&commat;', 64],
  ['&colon;', 58],
  ['&equals;', 61],
  ['&sol;', 47],
  ['&num;', 35],
];

const entityUnit: Unit = (b, at, to, arena) => {
  for (const [name, byte] of ENTITIES) {
    if (at + name.length > to) continue;
    let same = 1;
    while (same < name.length && b[at + same] === name.charCodeAt(same)) same++;
    if (same === name.length) return one(arena, byte, name.length);
  }
  return numberedEntity(b, at, to, arena);
};

/** `&#95;`, `&#x5f;`: characters of ASCII. */
function numberedEntity(b: Uint8Array, at: number, to: number, arena: Bytes): number {
  if (to - at < 4 || b[at + 1] !== 35) return 0;
  const hex = (b[at + 2]! | 32) === 120;
  const first = at + (hex ? 3 : 2);
  let i = first;
  let value = 0;
  for (; i < to && i - first < 4; i++) {
    const c = b[i]!;
    const digit = c >= 48 && c <= 57 ? c - 48 : hex && (c | 32) >= 97 && (c | 32) <= 102 ? (c | 32) - 87 : -1;
    if (digit < 0) break;
    value = value * (hex ? 16 : 10) + digit;
  }
  if (i === first || i >= to || b[i] !== 59 || value < 32 || value > 126) return 0;
  return one(arena, value, i + 1 - at);
}

/** Bytes of a terminal sequence or of an invisible character at `at`; nothing is written. */
export function invisibleLength(b: Uint8Array, at: number, to: number): number {
  const c = b[at]!;
  const d = at + 1 < to ? b[at + 1]! : 0;
  if (c === 27) {
    if (d === 91) {
      let i = at + 2;
      while (i < to && i < at + 32 && b[i]! >= 32 && b[i]! < 64) i++;
      return i < to && b[i]! >= 64 && b[i]! < 127 ? i + 1 - at : 0;
    }
    if (d === 93) {
      let i = at + 2;
      while (i < to && i < at + 512 && b[i] !== 7 && b[i] !== 27 && b[i] !== 10) i++;
      if (i < to && b[i] === 7) return i + 1 - at;
      return i + 1 < to && b[i] === 27 && b[i + 1] === 92 ? i + 2 - at : 0;
    }
    return d === 40 || d === 41 ? 3 : 0;
  }
  const e = at + 2 < to ? b[at + 2]! : 0;
  if (c === 0xc2) return d === 0xad ? 2 : 0;
  if (c === 0xe2) return (d === 0x80 && e >= 0x8b && e <= 0x8f) || (d === 0x81 && e >= 0xa0 && e <= 0xa4) ? 3 : 0;
  return c === 0xef && d === 0xbb && e === 0xbf ? 3 : 0;
}

/** Longest that a unit writes. */
const UNIT_BYTES = 4;

function rewrite(
  b: Uint8Array,
  from: number,
  to: number,
  shift: number,
  limit: number,
  target: Target,
  lead: number,
  unit: Unit,
): number {
  const { arena, maps } = target;
  const base = arena.length;
  arena.reserve(Math.min(limit, to - from) + UNIT_BYTES);
  breakpoint(maps, 0, from + shift, from + shift);
  let i = from;
  while (i < to && arena.length - base < limit) {
    let next = i;
    while (next < to && b[next] !== lead) next++;
    const plain = Math.min(next, i + limit - (arena.length - base));
    if (plain > i) {
      arena.bytes.set(b.subarray(i, plain), arena.length);
      arena.length += plain - i;
      i = plain;
    }
    if (i >= to || i < next || arena.length - base >= limit) continue;
    const read = unit(b, i, to, arena);
    if (read === 0) arena.bytes[arena.length++] = b[i++]!;
    else {
      i += read;
      breakpoint(maps, arena.length - base, i + shift, i + shift);
    }
  }
  return i;
}

function removeInvisible(
  b: Uint8Array,
  from: number,
  to: number,
  shift: number,
  limit: number,
  target: Target,
): number {
  const { arena, maps } = target;
  const base = arena.length;
  arena.reserve(Math.min(limit, to - from) + UNIT_BYTES);
  breakpoint(maps, 0, from + shift, from + shift);
  let i = from;
  let gap = -1;
  while (i < to && arena.length - base < limit) {
    const c = b[i]!;
    const skip = c === 27 || c >= 0xc2 ? invisibleLength(b, i, to) : 0;
    if (skip > 0) {
      if (gap < 0) gap = i;
      i += skip;
      continue;
    }
    if (gap >= 0) {
      breakpoint(maps, arena.length - base, i + shift, gap + shift);
      gap = -1;
    }
    arena.bytes[arena.length++] = c;
    i++;
  }
  return i;
}

/**
 * Reads `b[from..to)` as `view` says and writes it to the arena. `shift` + position in `b` is the parent's position. The arena must
 * not be `b` itself when it can move: `room` bytes are reserved before.
 */
export function decode(
  view: number,
  b: Uint8Array,
  from: number,
  to: number,
  shift: number,
  limit: number,
  target: Target,
): number {
  switch (view) {
    case View.json:
      return rewrite(b, from, to, shift, limit, target, 92, jsonUnit);
    case View.unescaped:
      return rewrite(b, from, to, shift, limit, target, 92, textUnit);
    case View.percent:
      return rewrite(b, from, to, shift, limit, target, 37, percentUnit);
    case View.entities:
      return rewrite(b, from, to, shift, limit, target, 38, entityUnit);
    default:
      return removeInvisible(b, from, to, shift, limit, target);
  }
}
