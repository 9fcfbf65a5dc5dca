/**
 * Records of a stream that carry one text in pieces: a secret that is cut in two is found in the joined text. Pieces are strings
 * under a field `delta` of records that follow each other and look alike.
 */
import { decode } from './scan/decode.js';
import { Bytes, Ints } from './scan/growable.js';
import { indexOf } from './scan/index-of.js';
import { stringEnd } from './scan/json-check.js';
import { BREAKPOINT, View } from './scan/layout.js';

const QUOTE = 34;
const NO_TEXT = /^(?:type|role|id|name|index|finish_reason|stop_reason|signature|call_id|item_id|status)$/;
export const DELTA_NAMES = ['"delta'];
const MARK = Buffer.from('"delta"');

/** String values under `delta` in one record, by the names that lead to them. */
interface Piece {
  name: string;
  /** Bytes between the quotes. */
  from: number;
  to: number;
}

export interface JoinedText {
  text: Uint8Array;
  /** The pieces' bytes in the input, for a range of the joined text. */
  parts(start: number, end: number): { start: number; end: number }[];
}

/** Texts in two pieces or more within `input[from..to)`. */
export function joinDeltas(input: Uint8Array, from: number, to: number): JoinedText[] {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const first = indexOf(bytes, from, to, MARK);
  if (first < 0) return [];
  const out: JoinedText[] = [];
  let open = new Map<string, Piece[]>();
  const close = (): void => {
    for (const pieces of open.values()) if (pieces.length > 1) out.push(join(input, pieces));
    open = new Map();
  };
  for (let line = bytes.lastIndexOf(10, first) + 1; line < to; ) {
    const newline = bytes.indexOf(10, line);
    const end = newline < 0 || newline > to ? to : newline;
    const pieces = piecesOf(input, Math.max(line, from), end);
    const names = new Set(pieces.map(({ name }) => name));
    if (pieces.length === 0 || [...open.keys()].some((name) => !names.has(name))) close();
    for (const piece of pieces) {
      const list = open.get(piece.name);
      if (list) list.push(piece);
      else open.set(piece.name, [piece]);
    }
    line = end + 1;
  }
  close();
  return out;
}

function piecesOf(b: Uint8Array, from: number, to: number): Piece[] {
  const out: Piece[] = [];
  const path: string[] = [];
  let key = '';
  let isKey = false;
  const objects: boolean[] = [];
  for (let i = from; i < to; ) {
    const c = b[i]!;
    if (c === 123 || c === 91) {
      objects.push(c === 123);
      path.push(key);
      key = '';
      isKey = c === 123;
    } else if (c === 125 || c === 93) {
      objects.pop();
      key = path.pop() ?? '';
      isKey = false;
    } else if (c === 44) isKey = objects.at(-1) === true;
    if (c !== QUOTE) {
      i++;
      continue;
    }
    const end = stringEnd(b, i, to);
    if (end < 0) return [];
    if (isKey) {
      key = Buffer.from(b.buffer, b.byteOffset + i + 1, end - i - 2).toString('latin1');
      isKey = false;
    } else if ((key === 'delta' || path.includes('delta')) && !NO_TEXT.test(key))
      out.push({ name: [...path, key].join('/'), from: i + 1, to: end - 1 });
    i = end;
  }
  return out;
}

function join(input: Uint8Array, pieces: readonly Piece[]): JoinedText {
  const arena = new Bytes();
  const starts: number[] = [];
  const maps: { values: Int32Array; length: number }[] = [];
  for (const { from, to } of pieces) {
    starts.push(arena.length);
    const map = new Ints();
    decode(View.json, input, from, to, 0, to - from + 4, { arena, maps: map });
    maps.push({ values: map.values, length: map.length });
  }
  starts.push(arena.length);
  /** Byte of the input for a position of the piece's text; `gap`: where what stands before it ends. */
  const place = (piece: number, position: number): number => {
    const { values, length } = maps[piece]!;
    let at = length - BREAKPOINT;
    while (at > 0 && values[at]! > position) at -= BREAKPOINT;
    return values[at + 1]! + position - values[at]!;
  };
  return {
    text: arena.bytes.subarray(0, arena.length),
    parts(start, end) {
      const out: { start: number; end: number }[] = [];
      pieces.forEach((_, i) => {
        const low = Math.max(start, starts[i]!);
        const high = Math.min(end, starts[i + 1]!);
        if (low < high) out.push({ start: place(i, low - starts[i]!), end: place(i, high - starts[i]!) });
      });
      return out;
    },
  };
}
