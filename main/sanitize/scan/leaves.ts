/** Reads what a scan reports: texts, and where in the input a position of a text lies. */
import { BREAKPOINT, CANDIDATE, FIELDS, Leaf, type ScanResult, View } from './layout.js';

export class Leaves {
  readonly #input: Buffer;
  #result!: ScanResult;
  #arena!: Buffer;

  constructor(input: Uint8Array) {
    this.#input = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  }

  read(result: ScanResult): void {
    this.#result = result;
    this.#arena = Buffer.from(result.arena.buffer, result.arena.byteOffset, result.arena.byteLength);
  }

  get count(): number {
    return this.#result.leafCount;
  }

  field(leaf: number, field: number): number {
    return this.#result.leaves[leaf * FIELDS + field]!;
  }

  /** One character a byte. */
  text(leaf: number): string {
    const start = this.field(leaf, Leaf.start);
    return this.slice(leaf, start, start + this.field(leaf, Leaf.length));
  }

  slice(leaf: number, from: number, to: number): string {
    return (this.field(leaf, Leaf.source) === 0 ? this.#input : this.#arena).toString('latin1', from, to);
  }

  key(leaf: number): string {
    const start = this.field(leaf, Leaf.keyStart);
    return this.#arena.toString('latin1', start, start + this.field(leaf, Leaf.keyLength));
  }

  /** What stands around the leaf in the text it is a string of, `reach` bytes to both sides. */
  around(leaf: number, reach: number): string {
    const parent = this.field(leaf, Leaf.parent);
    const inInput = parent < 0;
    const from = inInput ? this.start(leaf, 0) : this.field(parent, Leaf.start) + this.#inParent(leaf, 0);
    const to = inInput
      ? this.end(leaf, this.field(leaf, Leaf.length))
      : this.field(parent, Leaf.start) + this.#inParent(leaf, this.field(leaf, Leaf.length));
    const low = inInput ? 0 : this.field(parent, Leaf.start);
    const high = inInput ? this.#input.length : low + this.field(parent, Leaf.length);
    const bytes = inInput || this.field(parent, Leaf.source) === 0 ? this.#input : this.#arena;
    return bytes.toString('latin1', Math.max(low, from - reach), Math.min(high, to + reach));
  }

  /** Position of the parent's text. */
  #inParent(leaf: number, position: number): number {
    const count = this.field(leaf, Leaf.mapCount);
    if (this.field(leaf, Leaf.whole) > 0) return this.field(leaf, Leaf.shift);
    if (count === 0) return position + this.field(leaf, Leaf.shift);
    const p = this.#breakpoint(leaf, count, position);
    return position + this.#result.maps[p + 1]! - this.#result.maps[p]!;
  }

  /** Position and anchor of the i-th candidate of a leaf. */
  position(leaf: number, i: number): number {
    return this.#result.candidates[(this.field(leaf, Leaf.firstCandidate) + i) * CANDIDATE]!;
  }

  anchor(leaf: number, i: number): number {
    return this.#result.candidates[(this.field(leaf, Leaf.firstCandidate) + i) * CANDIDATE + 1]!;
  }

  escaped(leaf: number): boolean {
    return (this.field(leaf, Leaf.seenAs) & View.unescaped) !== 0;
  }

  /** First byte of the input that stands for `position`. */
  start(leaf: number, position: number): number {
    let at = position;
    for (let l = leaf; l >= 0; l = this.field(l, Leaf.parent)) {
      const count = this.field(l, Leaf.mapCount);
      if (this.field(l, Leaf.whole) > 0) at = this.field(l, Leaf.shift);
      else if (count === 0) at += this.field(l, Leaf.shift);
      else {
        const p = this.#breakpoint(l, count, at);
        at += this.#result.maps[p + 1]! - this.#result.maps[p]!;
      }
    }
    return at;
  }

  /** The byte of the input after what stands for the text before `position`. */
  end(leaf: number, position: number): number {
    let at = position;
    for (let l = leaf; l >= 0; l = this.field(l, Leaf.parent)) {
      const count = this.field(l, Leaf.mapCount);
      if (this.field(l, Leaf.whole) > 0) at = this.field(l, Leaf.shift) + this.field(l, Leaf.whole);
      else if (count === 0) at += this.field(l, Leaf.shift);
      else {
        const p = this.#breakpoint(l, count, at);
        const { maps } = this.#result;
        at = maps[p] === at ? maps[p + 2]! : at + maps[p + 1]! - maps[p]!;
      }
    }
    return at;
  }

  /** The outermost encoded run that the leaf is part of: its own leaf, or -1. */
  run(leaf: number): number {
    let found = -1;
    for (let l = leaf; l >= 0; l = this.field(l, Leaf.parent)) if (this.field(l, Leaf.whole) > 0) found = l;
    return found;
  }

  /** What the run of `run` says in the text it stands in. */
  runText(run: number): string {
    const parent = this.field(run, Leaf.parent);
    const start = this.field(parent, Leaf.start) + this.field(run, Leaf.shift);
    return this.slice(parent, start, start + this.field(run, Leaf.whole));
  }

  #breakpoint(leaf: number, count: number, position: number): number {
    const { maps } = this.#result;
    let low = this.field(leaf, Leaf.mapStart);
    let high = low + count * BREAKPOINT - BREAKPOINT;
    const first = low;
    while (low < high) {
      const middle = first + Math.ceil((low - first + high - first) / (2 * BREAKPOINT)) * BREAKPOINT;
      if (maps[middle]! <= position) low = middle;
      else high = middle - BREAKPOINT;
    }
    return low;
  }
}
