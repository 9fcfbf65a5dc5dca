/**
 * The vocabulary as a sorted list of byte strings, each with the length it shares with the one before: a trie without
 * nodes. One pass over it finds every token that can come in a state, trying each shared beginning once.
 */
import type { Machine, State } from './machine.js';

/** Counters of a state are cut to this many bytes when its mask is made; longer tokens are left out there. */
const REACH = 48;

export interface VocabularyOptions {
  /** Ids that end an answer. */
  endIds: ReadonlySet<number>;
  /** Ids whose bytes are a name, not text. */
  controlIds: ReadonlySet<number>;
}

export class Vocabulary {
  /** Ids in the order of their bytes. */
  readonly #order: Int32Array;
  /** Their bytes one after the other: token i of the order has those from #begin[i] to #begin[i + 1]. */
  readonly #bytes: Uint8Array;
  readonly #begin: Int32Array;
  /** Bytes that each shares with the one before. */
  readonly #shared: Int32Array;
  readonly #control: number[] = [];

  /** `tokens[id]`: the bytes of a token; null or empty: never drawn under a constraint. `size`: rows of the model. */
  constructor(
    readonly tokens: readonly (Uint8Array | null)[],
    readonly size: number,
    private readonly options: VocabularyOptions,
  ) {
    const text: number[] = [];
    tokens.forEach((bytes, id) => {
      if (id >= size || options.endIds.has(id) || !bytes || bytes.length === 0) return;
      if (options.controlIds.has(id)) this.#control.push(id);
      else text.push(id);
    });
    this.#order = sorted(text, tokens);
    this.#begin = new Int32Array(this.#order.length + 1);
    this.#shared = new Int32Array(this.#order.length);
    this.#order.forEach((id, i) => {
      const bytes = tokens[id]!;
      this.#begin[i + 1] = this.#begin[i]! + bytes.length;
      this.#shared[i] = i === 0 ? 0 : sharedLength(tokens[this.#order[i - 1]!]!, bytes);
    });
    this.#bytes = new Uint8Array(this.#begin.at(-1)!);
    this.#order.forEach((id, i) => {
      this.#bytes.set(tokens[id]!, this.#begin[i]!);
    });
  }

  isControl(id: number): boolean {
    return this.options.controlIds.has(id);
  }

  /** Bits of the tokens that may come in `state`, [ceil(size / 32)]; null: none. Kept with the state. */
  mask(machine: Machine, state: State): Uint32Array | null {
    const near = machine.within(state, REACH);
    const long = near === state ? 0 : 1;
    let mask = near.masks[long];
    if (mask === undefined) {
      mask = this.#make(machine, near, long === 1 ? REACH : Number.POSITIVE_INFINITY);
      near.masks[long] = mask;
    }
    return mask;
  }

  #make(machine: Machine, start: State, longest: number): Uint32Array | null {
    const words = new Uint32Array(Math.ceil(this.size / 32));
    const [order, begin, bytes, shared] = [this.#order, this.#begin, this.#bytes, this.#shared];
    const allow = (id: number): void => {
      words[id >>> 5]! |= 1 << (id & 31);
    };
    /** States along the current token; `path[n]` after n bytes. */
    const path: State[] = [start];
    /** Bytes of the current token that could come; less than its length when it failed. */
    let reached = 0;
    for (let i = 0; i < order.length; i++) {
      // Shares the byte at which the one before failed.
      if (shared[i]! > reached) continue;
      reached = shared[i]!;
      const from = begin[i]!;
      const length = begin[i + 1]! - from;
      const end = Math.min(length, longest);
      let state = path[reached]!;
      while (reached < end) {
        const byte = bytes[from + reached]!;
        const known = state.next[byte];
        const to = known === undefined ? machine.step(state, byte) : known;
        if (to === null) break;
        path[++reached] = to;
        state = to;
      }
      if (reached === length) allow(order[i]!);
    }
    if (start.markers) for (const id of this.#control) if (this.#walkControl(machine, start, id)) allow(id);
    if (start.ends) for (const id of this.options.endIds) if (id < this.size) allow(id);
    return words.some((word) => word !== 0) ? words : null;
  }

  /** The state after a token; null when it cannot come. */
  walk(machine: Machine, start: State, id: number): State | null {
    if (this.isControl(id)) return this.#walkControl(machine, start, id);
    let state: State | null = start;
    for (const byte of this.tokens[id] ?? []) state = state && machine.step(state, byte);
    return state;
  }

  #walkControl(machine: Machine, start: State, id: number): State | null {
    let state: State | null = start;
    for (const byte of this.tokens[id]!) state = state && machine.stepMarker(state, byte);
    return state;
  }
}

/** The first six bytes as a number: most comparisons need no more. */
const KEY_BYTES = 6;

function sorted(ids: readonly number[], tokens: readonly (Uint8Array | null)[]): Int32Array {
  const keys = new Float64Array(tokens.length);
  for (const id of ids) {
    const bytes = tokens[id]!;
    let key = 0;
    for (let n = 0; n < KEY_BYTES; n++) key = key * 256 + (bytes[n] ?? 0);
    keys[id] = key;
  }
  return Int32Array.from(ids).sort((a, b) => keys[a]! - keys[b]! || Buffer.compare(tokens[a]!, tokens[b]!));
}

function sharedLength(a: Uint8Array, b: Uint8Array): number {
  const n = Math.min(a.length, b.length);
  let i = 0;
  while (i < n && a[i] === b[i]) i++;
  return i;
}
