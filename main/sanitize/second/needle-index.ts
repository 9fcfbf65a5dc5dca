/**
 * Finds any of many texts in one pass (after S. Wu and U. Manber, "A fast algorithm for multi-pattern searching", 1994). A text is
 * entered under its first bytes, eight or of short ones four. A table says for the last block of bytes that was read how far the
 * next beginning can be away at least; where it may be here, the text in full is looked up by its length. So the time grows with
 * the input, not with the number of texts.
 */

import type { ScanAddon } from '../../../native/scan-addon.js';
import { scanAddon } from '../scan/create-scanner.js';

export interface Needle {
  /** Letters and digits beside it make it another word. */
  bounded: boolean;
  /** Whose it is. */
  owner: number;
}
type Found = (start: number, end: number, needle: Needle) => void;

export const SHORTEST = 4;
const LONG = 8;
const LEAST_BITS = 12;
const MOST_BITS = 22;
/** Places of the table for each text. */
const SPARSE = 32;

const mix = (word: number): number => Math.imul(word, 0x9e3779b1);

/** Texts by their first `window` bytes; `block` bytes at a time are read. */
class Beginnings {
  /** Hash of a beginning -> lengths of the texts that begin so. */
  readonly #lengths = new Map<number, number[]>();
  readonly #starts: string[] = [];
  #bits = LEAST_BITS;
  #steps: Uint8Array;

  constructor(
    readonly window: number,
    readonly block: 2 | 4,
  ) {
    this.#steps = this.#empty();
  }

  add(text: string): void {
    const start = text.slice(0, this.window);
    const hash = this.#hash(Buffer.from(start, 'latin1'), 0);
    const known = this.#lengths.get(hash);
    if (known && !known.includes(text.length)) known.push(text.length);
    if (!known) this.#lengths.set(hash, [text.length]);
    this.#starts.push(start);
    if (this.#starts.length * SPARSE > 2 ** this.#bits && this.#bits < MOST_BITS) {
      this.#bits += 2;
      this.#steps = this.#empty();
      for (const one of this.#starts) this.#mark(one);
    } else this.#mark(start);
  }

  find(bytes: Buffer, texts: ReadonlyMap<string, Needle>, found: Found): void {
    if (this.#starts.length === 0) return;
    const steps = this.#steps;
    const shift = 32 - this.#bits;
    const four = this.block === 4;
    for (let i = this.window - 1; i < bytes.length; ) {
      const two = (bytes[i - 1]! << 8) | bytes[i]!;
      const word = four ? (bytes[i - 3]! << 24) | (bytes[i - 2]! << 16) | two : two;
      const step = steps[mix(word) >>> shift]!;
      i += step;
      if (step === 0) this.#look(bytes, ++i - this.window, texts, found);
    }
  }

  #look(bytes: Buffer, start: number, texts: ReadonlyMap<string, Needle>, found: Found): void {
    for (const length of this.#lengths.get(this.#hash(bytes, start)) ?? []) {
      if (start + length > bytes.length) continue;
      const needle = texts.get(bytes.toString('latin1', start, start + length));
      if (needle) found(start, start + length, needle);
    }
  }

  #hash(bytes: Buffer, at: number): number {
    const first = bytes.readInt32LE(at);
    return this.window === LONG ? Math.imul(first, 0x85ebca6b) ^ mix(bytes.readInt32LE(at + 4)) : first;
  }

  #empty(): Uint8Array {
    return new Uint8Array(2 ** this.#bits).fill(this.window - this.block + 1);
  }

  #mark(start: string): void {
    for (let end = this.block; end <= this.window; end++) {
      let word = 0;
      for (let at = end - this.block; at < end; at++) word = (word << 8) | start.charCodeAt(at);
      const place = mix(word) >>> (32 - this.#bits);
      this.#steps[place] = Math.min(this.#steps[place]!, this.window - end);
    }
  }
}

type Native = InstanceType<ScanAddon['Needles']>;

export class NeedleIndex {
  readonly #texts = new Map<string, Needle>();
  readonly #long = new Beginnings(LONG, 4);
  readonly #short = new Beginnings(SHORTEST, 2);
  /** The same in C++ (native/src/scan/needles.h) where the addon was built: texts by their numbers, and those it does not have yet. */
  readonly #native: Native | null;
  readonly #numbered: { length: number; needle: Needle }[] = [];
  #waiting: string[] = [];

  constructor(addon: ScanAddon | null = scanAddon()) {
    this.#native = addon && new addon.Needles();
  }

  /** `text`: bytes as latin1, at least `SHORTEST`. The first entry of a text stays. */
  add(text: string, needle: Needle): void {
    if (text.length < SHORTEST || this.#texts.has(text)) return;
    this.#texts.set(text, needle);
    if (this.#native) {
      this.#numbered.push({ length: text.length, needle });
      this.#waiting.push(text);
    } else (text.length < LONG ? this.#short : this.#long).add(text);
  }

  /** Calls `found` for every text in `bytes`. */
  find(bytes: Buffer, found: Found): void {
    if (this.#native) {
      this.#findNatively(this.#native, bytes, found);
      return;
    }
    this.#long.find(bytes, this.#texts, found);
    this.#short.find(bytes, this.#texts, found);
  }

  #findNatively(native: Native, bytes: Buffer, found: Found): void {
    if (this.#waiting.length > 0) {
      let end = 0;
      const ends = Int32Array.from(this.#waiting, (text) => (end += text.length));
      native.add(Buffer.from(this.#waiting.join(''), 'latin1'), ends);
      this.#waiting = [];
    }
    const places = native.find(bytes);
    for (let i = 0; i < places.length; i += 2) {
      const { length, needle } = this.#numbered[places[i + 1]!]!;
      found(places[i]!, places[i]! + length, needle);
    }
  }
}
