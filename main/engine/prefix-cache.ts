/**
 * Finished sequences kept for the next request that starts with the same tokens under the same adapter version. Keys
 * include the adapter's hash: a cache entry of one version must never serve another.
 */
import type { NativeSequence } from '../../native/addon.js';

interface Entry {
  adapter: string;
  ids: Int32Array;
  sequence: NativeSequence;
  usedAt: number;
}

export function commonPrefix(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = Math.min(a.length, b.length);
  let i = 0;
  while (i < n && a[i] === b[i]) i++;
  return i;
}

export class PrefixCache {
  #entries: Entry[] = [];
  #tokens = 0;
  #clock = 0;

  constructor(private readonly maxTokens: number) {}

  get tokens(): number {
    return this.#tokens;
  }

  /** A private copy of the longest held prefix of `prompt`, at most all but its last token; null if too short to pay. */
  take(adapter: string, prompt: ArrayLike<number>): NativeSequence | null {
    let best: Entry | undefined;
    let length = 0;
    for (const entry of this.#entries) {
      if (entry.adapter !== adapter) continue;
      const n = Math.min(commonPrefix(entry.ids, prompt), prompt.length - 1);
      if (n > length) {
        best = entry;
        length = n;
      }
    }
    if (!best || length < 8) return null;
    best.usedAt = ++this.#clock;
    return best.sequence.clone(length);
  }

  /** Takes over `sequence`, which holds exactly `ids`. */
  put(adapter: string, ids: Int32Array, sequence: NativeSequence): void {
    for (const entry of this.#entries)
      if (entry.adapter === adapter && commonPrefix(entry.ids, ids) === ids.length) {
        sequence.free();
        return;
      }
    this.#drop((entry) => entry.adapter === adapter && commonPrefix(entry.ids, ids) === entry.ids.length);
    this.#entries.push({ adapter, ids, sequence, usedAt: ++this.#clock });
    this.#tokens += ids.length;
    while (this.#tokens > this.maxTokens && this.#entries.length > 1) {
      const oldest = this.#entries.reduce((a, b) => (a.usedAt < b.usedAt ? a : b));
      this.#drop((entry) => entry === oldest);
    }
  }

  dropAdapter(adapter: string): void {
    this.#drop((entry) => entry.adapter === adapter);
  }

  #drop(match: (entry: Entry) => boolean): void {
    this.#entries = this.#entries.filter((entry) => {
      if (!match(entry)) return true;
      entry.sequence.free();
      this.#tokens -= entry.ids.length;
      return false;
    });
  }
}
