/**
 * Finds many fixed values in one pass: each is entered under that of its four-byte pieces which the fewest values share. A bit map
 * of pieces is asked at every byte; what passes is compared in full.
 */
import { isAlnum } from './probes.js';

export interface KnownValue {
  /** At least `PIECE` bytes. */
  bytes: Uint8Array;
  /** Letters and digits beside it make it another word. */
  bounded: boolean;
}
/** The same in arrays, as the native body takes it. */
export interface KnownTables {
  bytes: Uint8Array;
  starts: Int32Array;
  bounded: Uint8Array;
  /** Piece of each value, and where in it the piece begins. */
  pieces: Int32Array;
  offsets: Int32Array;
}

export const PIECE = 4;
const COUNT_BITS = 18;
const MAP_BITS = 20;

/** Mixes a piece to `bits` bits; native/src/scan does the same in 32-bit arithmetic. */
export const mix = (piece: number, bits: number): number => Math.imul(piece, 0x9e3779b1) >>> (32 - bits);

export function knownTables(values: readonly KnownValue[]): KnownTables {
  const starts = new Int32Array(values.length + 1);
  values.forEach(({ bytes }, i) => {
    starts[i + 1] = starts[i]! + bytes.length;
  });
  const bytes = new Uint8Array(starts[values.length]!);
  for (const [i, value] of values.entries()) bytes.set(value.bytes, starts[i]!);
  const counts = new Uint16Array(1 << COUNT_BITS);
  const each = (i: number, visit: (piece: number, offset: number) => void): void => {
    let piece = 0;
    for (let at = starts[i]!; at < starts[i + 1]!; at++) {
      piece = (piece << 8) | bytes[at]!;
      if (at - starts[i]! >= PIECE - 1) visit(piece, at - starts[i]! - PIECE + 1);
    }
  };
  for (let i = 0; i < values.length; i++)
    each(i, (piece) => {
      const slot = mix(piece, COUNT_BITS);
      if (counts[slot]! < 65_535) counts[slot]!++;
    });
  const pieces = new Int32Array(values.length);
  const offsets = new Int32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    let fewest = Number.POSITIVE_INFINITY;
    each(i, (piece, offset) => {
      const count = counts[mix(piece, COUNT_BITS)]!;
      if (count >= fewest) return;
      fewest = count;
      pieces[i] = piece;
      offsets[i] = offset;
    });
  }
  return { bytes, starts, bounded: Uint8Array.from(values.map(({ bounded }) => (bounded ? 1 : 0))), pieces, offsets };
}

export class KnownValues {
  readonly #tables: KnownTables;
  readonly #map = new Int32Array(1 << (MAP_BITS - 5));
  /** Piece -> values, in order. */
  readonly #byPiece = new Map<number, number[]>();
  /** End of the last finding of each value, and in which text: a value is not found again inside itself. */
  readonly #lastEnd: Int32Array;
  readonly #lastText: Int32Array;
  #text = 0;

  constructor(tables: KnownTables) {
    this.#tables = tables;
    this.#lastEnd = new Int32Array(tables.pieces.length);
    this.#lastText = new Int32Array(tables.pieces.length);
    for (let i = 0; i < tables.pieces.length; i++) {
      const piece = tables.pieces[i]!;
      const slot = mix(piece, MAP_BITS);
      this.#map[slot >> 5]! |= 1 << (slot & 31);
      const list = this.#byPiece.get(piece);
      if (list) list.push(i);
      else this.#byPiece.set(piece, [i]);
    }
  }

  /** Calls `found` for every value in `b[from..to)`, in the order in which their pieces end. */
  find(b: Uint8Array, from: number, to: number, found: (position: number, value: number) => void): void {
    if (this.#byPiece.size === 0) return;
    const { bytes, starts, bounded, offsets } = this.#tables;
    let piece = 0;
    this.#text = (this.#text + 1) | 0;
    for (let i = from; i < to; i++) {
      piece = (piece << 8) | b[i]!;
      if (i - from < PIECE - 1) continue;
      const slot = mix(piece, MAP_BITS);
      if ((this.#map[slot >> 5]! & (1 << (slot & 31))) === 0) continue;
      for (const value of this.#byPiece.get(piece) ?? []) {
        const start = i - PIECE + 1 - offsets[value]!;
        const first = starts[value]!;
        const length = starts[value + 1]! - first;
        if (start < from || start + length > to) continue;
        if (this.#lastText[value] === this.#text && start < this.#lastEnd[value]!) continue;
        if (
          bounded[value] === 1 &&
          ((start > from && isAlnum(b[start - 1]!)) || (start + length < to && isAlnum(b[start + length]!)))
        )
          continue;
        let same = 0;
        while (same < length && b[start + same] === bytes[first + same]) same++;
        if (same < length) continue;
        this.#lastText[value] = this.#text;
        this.#lastEnd[value] = start + length;
        found(start, value);
      }
    }
  }
}
