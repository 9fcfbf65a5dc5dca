import { afterAll, describe, expect, it } from 'vitest';
import type { GenerateOptions } from '../../main/engine/job.js';
import { DEFAULT_LIMITS, type ServingLimits } from '../../main/engine/limits.js';
import { Scheduler } from '../../main/engine/scheduler.js';
import type { DecodeItem, NativeModel } from '../../native/addon.js';
import { codeOf, generate, tinyModel, tokens, trainedAdapter } from '../native/support.js';

const model = tinyModel();
afterAll(() => model.free());

/** The real model; what it was asked is written down, and each pass can be made to take its time. */
function watched(pauseMs = 0): { model: NativeModel; rounds: number[][]; next(): Promise<void> } {
  const rounds: number[][] = [];
  let wake: (() => void)[] = [];
  const decode = async (items: DecodeItem[]) => {
    rounds.push(items.map(({ ids }) => ids.length));
    const answer = await model.decode(items);
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    for (const one of wake.splice(0)) one();
    return answer;
  };
  const spied = new Proxy(model, {
    get: (target, key) => {
      if (key === 'decode') return decode;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    model: spied,
    rounds,
    next: () =>
      new Promise((resolve) => {
        wake = [...wake, resolve];
      }),
  };
}

const limits = (more: Partial<ServingLimits> = {}): ServingLimits => ({
  ...DEFAULT_LIMITS,
  kvBytes: 64 << 20,
  ...more,
});
const ask = (more: Partial<GenerateOptions> = {}): GenerateOptions => ({
  adapterKey: 'base',
  adapter: null,
  sample: { temperature: 0.9, seed: 5 },
  maxTokens: 12,
  endIds: new Set(),
  ...more,
});
const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);

describe('batching', () => {
  it('gives each request what it would get alone, whatever runs beside it', async () => {
    const adapters = [null, await trainedAdapter(model, 1), await trainedAdapter(model, 2)];
    const prompts = [3, 250, 90, 17, 250, 1].map((n, i) => tokens(n, i % 3));
    const scheduler = new Scheduler(model, limits({ prefillTokens: 64 }));
    const answers = await Promise.all(
      prompts.map((prompt, i) =>
        scheduler.generate(prompt, ask({ adapterKey: `a${i % 3}`, adapter: adapters[i % 3]!, maxTokens: 20 + i })),
      ),
    );
    for (const [i, { completionIds, logprobs }] of answers.entries()) {
      const alone = await generate(model, adapters[i % 3]!, prompts[i]!, 20 + i, { temperature: 0.9, seed: 5 });
      expect({ ids: completionIds, logprobs }).toEqual(alone);
    }
  });

  it('keeps decoding while a long prompt is read in pieces', async () => {
    const { model: spied, rounds, next } = watched(4);
    const scheduler = new Scheduler(spied, limits({ gapMs: 4, prefillTokens: 256 }));
    const short = scheduler.generate(tokens(5, 1), ask({ maxTokens: 60 }));
    await next();
    const before = rounds.length;
    const long = scheduler.generate(tokens(400, 2), ask({ maxTokens: 2 }));
    await long;
    const mixed = rounds.slice(before).filter((round) => round.length > 1 && Math.max(...round) > 1);
    expect(mixed.length).toBeGreaterThan(3);
    // One token for the one that decodes in every pass, and never the whole prompt.
    for (const round of mixed)
      expect([round.filter((n) => n === 1).length > 0, Math.max(...round) <= 200]).toEqual([true, true]);
    await short;
  });

  it('fails the one bad request of a batch alone', async () => {
    const scheduler = new Scheduler(model, limits());
    const good = scheduler.generate(tokens(20, 1), ask());
    const bad = scheduler.generate(Int32Array.of(5, 99, 4), ask());
    expect(await codeOf(() => bad)).toBe('BAD_ARGUMENT');
    expect((await good).completionIds).toHaveLength(12);
  });
});

describe('prefixes', () => {
  it('computes what two waiting requests share once', async () => {
    const { model: spied, rounds } = watched();
    const scheduler = new Scheduler(spied, limits({ prefillTokens: 64 }));
    const shared = tokens(200, 7);
    const prompts = [5, 9, 11].map((last) => Int32Array.of(...shared, last, 4));
    const answers = await Promise.all(prompts.map((prompt) => scheduler.generate(prompt, ask({ maxTokens: 1 }))));
    expect(sum(rounds.flat())).toBe(202 + 2 + 2);
    expect(answers.map(({ cachedTokens }) => cachedTokens)).toEqual([0, 200, 200]);
    for (const [i, { completionIds }] of answers.entries())
      expect(completionIds).toEqual((await generate(model, null, prompts[i]!, 1, { temperature: 0.9, seed: 5 })).ids);
  });

  it('never shares between adapters', async () => {
    const scheduler = new Scheduler(model, limits());
    const adapter = await trainedAdapter(model, 3);
    const prompt = tokens(100, 4);
    await scheduler.generate(prompt, ask());
    const other = await scheduler.generate(prompt, ask({ adapterKey: 'other', adapter }));
    expect(other.cachedTokens).toBe(0);
    expect(other.completionIds).toEqual(
      (await generate(model, adapter, prompt, 12, { temperature: 0.9, seed: 5 })).ids,
    );
    expect((await scheduler.generate(prompt, ask())).cachedTokens).toBe(99);
  });

  it('goes on when the one it waits for is cancelled, from what that one had', async () => {
    const { model: spied, next } = watched(2);
    const scheduler = new Scheduler(spied, limits({ prefillTokens: 64 }));
    const stop = new AbortController();
    const prompt = tokens(300, 8);
    const first = codeOf(() => scheduler.generate(prompt, ask({ signal: stop.signal })));
    await next();
    const second = scheduler.generate(prompt, ask());
    const third = scheduler.generate(Int32Array.of(...prompt.subarray(0, 250), 3), ask());
    await next();
    stop.abort();
    expect(await first).toBe('CANCELLED');
    const answer = await second;
    expect(answer.completionIds).toEqual((await generate(model, null, prompt, 12, { temperature: 0.9, seed: 5 })).ids);
    expect(answer.cachedTokens).toBeGreaterThanOrEqual(64);
    expect((await third).completionIds).toHaveLength(12);
    expect(scheduler.status()).toMatchObject({ decoding: 0, prefilling: 0, queued: 0, kv: { runningBytes: 0 } });
  });
});

describe('leaving', () => {
  it('leaves within one pass, and what was read of the prompt is kept', async () => {
    const { model: spied, rounds, next } = watched(2);
    const scheduler = new Scheduler(spied, limits({ prefillTokens: 64 }));
    const stop = new AbortController();
    const cancelled = codeOf(() => scheduler.generate(tokens(400, 3), ask({ signal: stop.signal })));
    await next();
    await next();
    stop.abort();
    const at = rounds.length;
    expect(await cancelled).toBe('CANCELLED');
    expect(rounds.length - at).toBeLessThanOrEqual(1);
    const again = await scheduler.generate(tokens(400, 3), ask({ maxTokens: 1 }));
    expect(again.cachedTokens).toBeGreaterThanOrEqual(128);
  });

  it('stops where the caller says so; ids and log-probabilities stay as sampled', async () => {
    const scheduler = new Scheduler(model, limits());
    const whole = await scheduler.generate(tokens(9, 2), ask());
    const cut = await scheduler.generate(tokens(9, 2), ask({ onToken: (ids) => ids.length === 5 }));
    expect(cut.finish).toBe('stop_string');
    expect(cut.completionIds).toEqual(whole.completionIds.slice(0, 5));
    expect(cut.logprobs).toEqual(whole.logprobs.slice(0, 5));
  });
});

describe('waiting', () => {
  it('refuses what does not fit the queue, and names the deadline of what waits too long', async () => {
    const { model: spied } = watched(5);
    const scheduler = new Scheduler(spied, limits({ maxRunning: 1, maxQueued: 1, queueDeadlineMs: 60 }));
    const running = scheduler.generate(tokens(4, 1), ask({ maxTokens: 60 }));
    await new Promise((resolve) => setTimeout(resolve, 10));
    const waiting = scheduler.generate(tokens(4, 2), ask());
    expect(scheduler.status()).toMatchObject({ queued: 1, waitsFor: { what: 'place' } });
    await expect(scheduler.generate(tokens(4, 3), ask())).rejects.toMatchObject({ code: 'BUSY' });
    await expect(waiting).rejects.toMatchObject({
      code: 'DEADLINE',
      message: expect.stringMatching(/waited .* for a place in the engine/) as string,
    });
    expect((await running).completionIds).toHaveLength(60);
    expect(scheduler.status().waitsFor).toBeNull();
  });

  it('leaves the queue at once when it is cancelled', async () => {
    const { model: spied, rounds } = watched(20);
    const scheduler = new Scheduler(spied, limits({ maxRunning: 1 }));
    const running = scheduler.generate(tokens(4, 1), ask({ maxTokens: 8 }));
    const stop = new AbortController();
    const waiting = codeOf(() => scheduler.generate(tokens(4, 2), ask({ signal: stop.signal })));
    await new Promise((resolve) => setTimeout(resolve, 30));
    stop.abort();
    const at = rounds.length;
    expect(await waiting).toBe('CANCELLED');
    expect(rounds.length).toBe(at);
    await running;
  });

  it("serves the user's requests before rollouts that came earlier", async () => {
    const scheduler = new Scheduler(model, limits({ maxRunning: 1 }));
    const order: string[] = [];
    const run = (name: string, priority: 'interactive' | 'rollout'): Promise<unknown> =>
      scheduler.generate(tokens(6, 1), ask({ priority, maxTokens: 3 })).then(() => order.push(name));
    await Promise.all([
      run('first', 'rollout'),
      run('rollout 1', 'rollout'),
      run('rollout 2', 'rollout'),
      run('user 1', 'interactive'),
      run('user 2', 'interactive'),
    ]);
    // All arrive before the first pass, so the very first one is a user's too.
    expect(order.filter((name) => name.startsWith('user'))).toEqual(['user 1', 'user 2']);
    expect(order.indexOf('user 2')).toBeLessThan(order.indexOf('rollout 1'));
  });

  it('waits for memory when contexts have none left, and holds no more than the limit', async () => {
    const { model: spied } = watched(2);
    const perToken = 2 * 2 * 6 * 2 * 4;
    const scheduler = new Scheduler(spied, limits({ kvBytes: 2 * 192 * perToken }));
    const all = [1, 2, 3, 4].map((seed) => scheduler.generate(tokens(150, seed), ask({ maxTokens: 10 })));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { kv, queued, waitsFor, decoding, prefilling } = scheduler.status();
    expect([queued, waitsFor?.what, decoding + prefilling]).toEqual([2, 'memory', 2]);
    expect(kv.runningBytes + kv.cacheBytes).toBeLessThanOrEqual(kv.limitBytes);
    for (const answer of await Promise.all(all)) expect(answer.completionIds).toHaveLength(10);
    const after = scheduler.status().kv;
    expect(after.runningBytes).toBe(0);
    expect(after.cacheBytes).toBeLessThanOrEqual(after.limitBytes);
  });
});

describe('limits', () => {
  it('refuses prompts that cannot be answered before anything is computed', async () => {
    const { model: spied, rounds } = watched();
    const perToken = 2 * 2 * 6 * 2 * 4;
    const scheduler = new Scheduler(spied, limits());
    const small = new Scheduler(spied, limits({ kvBytes: 192 * perToken }));
    const refused = async (work: Promise<unknown>): Promise<string> => {
      try {
        await work;
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        return `${code}: ${message}`;
      }
      return 'answered';
    };
    expect(await refused(scheduler.generate(new Int32Array(0), ask()))).toMatch(/^BAD_ARGUMENT: .*no tokens/);
    expect(await refused(scheduler.generate(tokens(512, 1), ask()))).toMatch(/^CONTEXT_FULL: .*512 tokens.*holds 512/);
    expect(await refused(small.generate(tokens(200, 1), ask()))).toMatch(/^CONTEXT_FULL: .*memory.*holds 192/);
    expect(await refused(scheduler.generate(tokens(40, 1), ask({ maxPromptTokens: 39 })))).toMatch(
      /^CONTEXT_FULL: .*allows 39/,
    );
    expect(rounds).toEqual([]);
    expect((await scheduler.generate(tokens(508, 1), ask({ maxTokens: 99 }))).completionIds).toHaveLength(4);
  });
});
