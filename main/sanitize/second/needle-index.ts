/**
 * Finds any of many texts in one pass. A text is entered under its first bytes, eight or of short ones four. Blocks of bytes are read at
 * such distances that one of them lies in every beginning; a table says of a block in which places of a beginning it occurs, and what
 * may be one is looked up in full, by its length. So the time grows with the input, not with the number of texts.
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
/** Texts that are handed over together. */
const AT_ONCE = 4096;
const LEAST_BITS = 12;
const MOST_BITS = 22;
/** Places of the table for each text. */
const SPARSE = 64;

const mix = (word: number): number => Math.imul(word, 0x9e3779b1);

/** Texts by their first `window` bytes; a block of `block` bytes is read at every `step`. */
class Beginnings {
  /** Hash of a beginning -> lengths of the texts that begin so. */
  readonly #lengths = new Map<number, number[]>();
  readonly #starts = new Set<string>();
  readonly #step: number;
  #bits = LEAST_BITS;
  /** Bit n: such a block occurs `n` bytes after the first of a beginning. */
  #places = new Uint8Array(2 ** LEAST_BITS);

  constructor(
    readonly window: number,
    readonly block: 2 | 4,
  ) {
    this.#step = window - block + 1;
  }

  add(text: string): void {
    const start = text.slice(0, this.window);
    const hash = this.#hash(Buffer.from(start, 'latin1'), 0);
    const known = this.#lengths.get(hash);
    if (known && !known.includes(text.length)) known.push(text.length);
    if (!known) this.#lengths.set(hash, [text.length]);
    if (this.#starts.has(start)) return;
    this.#starts.add(start);
    if (this.#starts.size * SPARSE > 2 ** this.#bits && this.#bits < MOST_BITS) {
      this.#bits += 2;
      this.#places = new Uint8Array(2 ** this.#bits);
      for (const one of this.#starts) this.#mark(one);
    } else this.#mark(start);
  }

  find(bytes: Buffer, texts: ReadonlyMap<string, Needle>, found: Found): void {
    if (this.#starts.size === 0) return;
    const places = this.#places;
    const shift = 32 - this.#bits;
    const step = this.#step;
    if (this.block === 4)
      for (let i = 3; i < bytes.length; i += step) {
        const word = (bytes[i - 3]! << 24) | (bytes[i - 2]! << 16) | (bytes[i - 1]! << 8) | bytes[i]!;
        const at = places[mix(word) >>> shift]!;
        if (at !== 0) this.#look(bytes, i - 3, at, texts, found);
      }
    else
      for (let i = 1; i < bytes.length; i += step) {
        const at = places[mix((bytes[i - 1]! << 8) | bytes[i]!) >>> shift]!;
        if (at !== 0) this.#look(bytes, i - 1, at, texts, found);
      }
  }

  /** `block`: where the block begins that was read. */
  #look(bytes: Buffer, block: number, places: number, texts: ReadonlyMap<string, Needle>, found: Found): void {
    for (let place = this.#step - 1; place >= 0; place--) {
      const start = block - place;
      if ((places & (1 << place)) === 0 || start < 0 || start + this.window > bytes.length) continue;
      for (const length of this.#lengths.get(this.#hash(bytes, start)) ?? []) {
        if (start + length > bytes.length) continue;
        const needle = texts.get(bytes.toString('latin1', start, start + length));
        if (needle) found(start, start + length, needle);
      }
    }
  }

  #hash(bytes: Buffer, at: number): number {
    const first = bytes.readInt32LE(at);
    return this.window === LONG ? Math.imul(first, 0x85ebca6b) ^ mix(bytes.readInt32LE(at + 4)) : first;
  }

  #mark(start: string): void {
    for (let place = 0; place < this.#step; place++) {
      let word = 0;
      for (let at = place; at < place + this.block; at++) word = (word << 8) | start.charCodeAt(at);
      this.#places[mix(word) >>> (32 - this.#bits)]! |= 1 << place;
    }
  }
}

type Native = InstanceType<ScanAddon['Needles']>;

export class NeedleIndex {
  readonly #texts = new Map<string, Needle>();
  readonly #long = new Beginnings(LONG, 4);
  readonly #short = new Beginnings(SHORTEST, 2);
  /**
   * The same in C++ (native/src/scan/needles.h) where the addon was built, which keeps the texts: there may be millions of them. Here are
   * their owners, in twos with what bounds them, and those that it does not have yet. Texts that are entered twice are found twice.
   */
  readonly #native: Native | null;
  #owners = new Int32Array(1024);
  #count = 0;
  #waiting: string[] = [];

  constructor(addon: ScanAddon | null = scanAddon()) {
    this.#native = addon && new addon.Needles();
  }

  /** `text`: bytes as latin1, at least `SHORTEST`. The first entry of a text stays. */
  add(text: string, needle: Needle): void {
    if (text.length < SHORTEST) return;
    if (this.#native) {
      this.#addNatively(this.#native, text, needle);
      return;
    }
    if (this.#texts.has(text)) return;
    this.#texts.set(text, needle);
    (text.length < LONG ? this.#short : this.#long).add(text);
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

  /** Gives its memory back; it is of no use afterwards. */
  close(): void {
    this.#native?.close();
  }

  #addNatively(native: Native, text: string, { owner, bounded }: Needle): void {
    if (this.#count === this.#owners.length) {
      const old = this.#owners;
      this.#owners = new Int32Array(old.length * 2);
      this.#owners.set(old);
    }
    this.#owners[this.#count++] = owner * 2 + Number(bounded);
    if (this.#waiting.push(text) === AT_ONCE) this.#handOver(native);
  }

  #handOver(native: Native): void {
    let end = 0;
    const ends = Int32Array.from(this.#waiting, (text) => (end += text.length));
    native.add(Buffer.from(this.#waiting.join(''), 'latin1'), ends);
    this.#waiting = [];
  }

  #findNatively(native: Native, bytes: Buffer, found: Found): void {
    if (this.#waiting.length > 0) this.#handOver(native);
    const places = native.find(bytes);
    for (let i = 0; i < places.length; i += 3) {
      const owner = this.#owners[places[i + 2]!]!;
      found(places[i]!, places[i + 1]!, { owner: owner >> 1, bounded: (owner & 1) === 1 });
    }
  }
}
