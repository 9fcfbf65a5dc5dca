import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonPrefix, MIN_SHARED_TOKENS, PrefixCache } from '../../main/engine/prefix-cache.js';
import type { NativeSequence } from '../../native/addon.js';

/** A sequence that remembers its tokens, and complains when it is used after its end. */
class Held implements NativeSequence {
  freed = false;
  constructor(
    readonly key: string,
    readonly ids: readonly number[],
  ) {}
  get length(): number {
    return this.ids.length;
  }
  truncate(): void {
    throw new Error('a held sequence is never cut');
  }
  clone(n = this.ids.length): Held {
    if (this.freed) throw new Error('copy of a freed sequence');
    return new Held(this.key, this.ids.slice(0, n));
  }
  free(): void {
    if (this.freed) throw new Error('freed twice');
    this.freed = true;
  }
}

const BYTES = 10;
const bytesOf = (tokens: number): number => tokens * BYTES;
const run = (n: number, from = 0): number[] => Array.from({ length: n }, (_, i) => from + i);
const put = (cache: PrefixCache, key: string, ids: number[]): Held => {
  const held = new Held(key, ids);
  cache.put(key, Int32Array.from(ids), held);
  return held;
};

/** The same rules over a plain list: what the tree must agree with. */
class Naive {
  entries: { key: string; ids: number[]; used: number }[] = [];
  clock = 0;
  constructor(private limit: number) {}
  get bytes(): number {
    return this.entries.reduce((sum, { ids }) => sum + bytesOf(ids.length), 0);
  }
  longest(key: string, prompt: number[]): number {
    const own = this.entries.filter((entry) => entry.key === key);
    const best = Math.max(0, ...own.map(({ ids }) => commonPrefix(ids, prompt)));
    const usable = Math.min(best, prompt.length - 1);
    return usable < MIN_SHARED_TOKENS ? 0 : usable;
  }
  put(key: string, ids: number[]): void {
    if (ids.length < MIN_SHARED_TOKENS || bytesOf(ids.length) > this.limit) return;
    const own = this.entries.filter((entry) => entry.key === key);
    if (own.some((entry) => commonPrefix(entry.ids, ids) === ids.length)) return;
    this.entries = this.entries.filter((entry) => entry.key !== key || commonPrefix(entry.ids, ids) < entry.ids.length);
    this.entries.push({ key, ids, used: this.clock++ });
  }
}

describe('PrefixCache', () => {
  it('hands out the longest shared prefix, never the whole prompt, never a short one', () => {
    const cache = new PrefixCache(1e6, bytesOf);
    put(cache, 'a', run(40));
    put(cache, 'a', [...run(20), ...run(30, 500)]);
    expect(cache.take('a', run(40))!.length).toBe(39);
    expect(cache.take('a', [...run(20), 500, 501, 7])!.length).toBe(22);
    expect(cache.take('a', [...run(20), 9])!.length).toBe(20);
    expect(cache.take('a', run(5))).toBeNull();
    expect(cache.take('a', [])).toBeNull();
    expect(cache.take('b', run(40))).toBeNull();
  });

  it('keeps one of two when one is a prefix of the other', () => {
    const cache = new PrefixCache(1e6, bytesOf);
    const short = put(cache, 'a', run(20));
    const long = put(cache, 'a', run(30));
    const again = put(cache, 'a', run(25));
    expect([short.freed, long.freed, again.freed]).toEqual([true, false, true]);
    expect(cache.bytes).toBe(bytesOf(30));
  });

  it('lets the least recently used go, and what is too large at once', () => {
    const cache = new PrefixCache(bytesOf(60), bytesOf);
    const [a, b] = [put(cache, 'k', run(30, 100)), put(cache, 'k', run(30, 200))];
    cache.take('k', run(30, 100));
    const c = put(cache, 'k', run(30, 300));
    expect([a.freed, b.freed, c.freed]).toEqual([false, true, false]);
    expect(put(cache, 'k', run(61, 900)).freed).toBe(true);
    cache.trim(0);
    expect([a.freed, c.freed, cache.bytes, cache.sequences]).toEqual([true, true, 0, 0]);
  });

  it('drops one adapter and nothing of the others', () => {
    const cache = new PrefixCache(1e6, bytesOf);
    const [one, two] = [put(cache, 'x/fp32', run(20)), put(cache, 'y/fp32', run(20))];
    cache.drop((key) => key.startsWith('x/'));
    expect([one.freed, two.freed]).toEqual([true, false]);
    expect(cache.take('x/fp32', run(20))).toBeNull();
    expect(cache.take('y/fp32', run(20))!.length).toBe(19);
  });

  it('agrees with a plain list, whatever is put, taken and dropped', () => {
    // Few letters and long runs of one of them: paths that share much and part anywhere.
    const ids = fc
      .array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 9 })), { maxLength: 6 })
      .map((runs) => runs.flatMap(([token, times]) => new Array<number>(times).fill(token)));
    const command = fc.oneof(
      fc.record({ kind: fc.constant('put' as const), key: fc.constantFrom('a', 'b'), ids }),
      fc.record({ kind: fc.constant('take' as const), key: fc.constantFrom('a', 'b'), ids }),
      fc.record({ kind: fc.constant('drop' as const), key: fc.constantFrom('a', 'b') }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const cache = new PrefixCache(1e9, bytesOf);
        const naive = new Naive(1e9);
        const all: Held[] = [];
        for (const step of commands) {
          if (step.kind === 'put') {
            all.push(put(cache, step.key, step.ids));
            naive.put(step.key, step.ids);
          } else if (step.kind === 'drop') {
            cache.drop((key) => key === step.key);
            naive.entries = naive.entries.filter(({ key }) => key !== step.key);
          } else {
            const expected = naive.longest(step.key, step.ids);
            expect(cache.match(step.key, step.ids)).toBe(expected);
            const taken = cache.take(step.key, step.ids) as Held | null;
            expect(taken?.ids ?? []).toEqual(step.ids.slice(0, expected));
            if (taken) expect(taken.key).toBe(step.key);
          }
          expect(cache.bytes).toBe(naive.bytes);
          expect(cache.sequences).toBe(naive.entries.length);
          expect(all.filter((held) => !held.freed)).toHaveLength(naive.entries.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('never holds more than its limit, and stays whole while it evicts', () => {
    const ids = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(ids, { maxLength: 40 }), (puts) => {
        const cache = new PrefixCache(bytesOf(100), bytesOf);
        const all: Held[] = [];
        for (const one of puts) {
          all.push(put(cache, 'a', one));
          const alive = all.filter((held) => !held.freed);
          expect(cache.bytes).toBe(alive.reduce((sum, held) => sum + bytesOf(held.length), 0));
          expect(cache.bytes).toBeLessThanOrEqual(bytesOf(100));
          for (const held of alive) expect(cache.match('a', [...held.ids, 99])).toBe(held.length);
        }
      }),
      { numRuns: 200 },
    );
  });
});
