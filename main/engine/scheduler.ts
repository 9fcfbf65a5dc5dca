/**
 * Continuous batching: each round is one native forward over every running request (one token each) and the next chunk
 * of those still in their prompt. Requests join and leave between rounds; a cancelled one leaves at the next round.
 */

import { TackroomError } from '../../contract/errors.js';
import type {
  DecodeItem,
  NativeAdapter,
  NativeModel,
  NativeSequence,
  Sampled,
  SampleOptions,
} from '../../native/addon.js';
import { PrefixCache } from './prefix-cache.js';

export interface Generation {
  completionIds: number[];
  logprobs: number[];
  finish: 'stop' | 'length';
  cachedTokens: number;
  firstTokenMs: number;
}

interface Job {
  adapterKey: string;
  prompt: Int32Array;
  sequence: NativeSequence;
  /** Prompt tokens already in the sequence. */
  filled: number;
  out: Generation;
  sample: SampleOptions;
  maxTokens: number;
  endIds: ReadonlySet<number>;
  onToken: ((ids: readonly number[]) => void) | undefined;
  signal: AbortSignal | undefined;
  startedAt: number;
  resolve(result: Generation): void;
  reject(error: Error): void;
}

export interface GenerateOptions {
  adapterKey: string;
  adapter: NativeAdapter | null;
  sample: SampleOptions;
  maxTokens: number;
  endIds: ReadonlySet<number>;
  onToken?: (ids: readonly number[]) => void;
  signal?: AbortSignal;
}

const MAX_BATCH = 32;
/** Prompt tokens per round over all requests, so that a long prompt does not stall those that decode. */
const PREFILL_PER_ROUND = 512;

export class Scheduler {
  #running: Job[] = [];
  #waiting: (() => void)[] = [];
  #looping = false;
  #cache: PrefixCache;
  #sampled = 0;
  #rateAt = Date.now();
  #rate = 0;

  constructor(
    private readonly model: NativeModel,
    cacheTokens: number,
  ) {
    this.#cache = new PrefixCache(cacheTokens);
  }

  get running(): number {
    return this.#running.length;
  }
  get queued(): number {
    return this.#waiting.length;
  }
  get tokensPerSecond(): number {
    return Date.now() - this.#rateAt > 3000 ? 0 : Math.round(this.#rate);
  }

  dropAdapter(adapterKey: string): void {
    this.#cache.dropAdapter(adapterKey);
  }

  /** Samples after `prompt` until an end token or `maxTokens`. Errors: CONTEXT_FULL, CANCELLED. */
  async generate(prompt: Int32Array, options: GenerateOptions): Promise<Generation> {
    const context = this.model.info.contextLength;
    if (prompt.length === 0) throw new TackroomError('BAD_ARGUMENT', 'The prompt has no tokens.');
    if (prompt.length >= context)
      throw new TackroomError(
        'CONTEXT_FULL',
        `The prompt has ${prompt.length} tokens; this model holds ${context}.`,
        'Shorten the conversation or use a model with a longer context.',
      );
    while (this.#running.length >= MAX_BATCH) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    options.signal?.throwIfAborted();
    const cached = this.#cache.take(options.adapterKey, prompt);
    const sequence = cached ?? this.model.newSequence(options.adapter);
    return new Promise<Generation>((resolve, reject) => {
      this.#running.push({
        adapterKey: options.adapterKey,
        prompt,
        sequence,
        filled: sequence.length,
        out: { completionIds: [], logprobs: [], finish: 'length', cachedTokens: sequence.length, firstTokenMs: 0 },
        sample: options.sample,
        maxTokens: Math.min(options.maxTokens, context - prompt.length),
        endIds: options.endIds,
        onToken: options.onToken,
        signal: options.signal,
        startedAt: performance.now(),
        resolve,
        reject,
      });
      if (!this.#looping) void this.#loop();
    });
  }

  async #loop(): Promise<void> {
    this.#looping = true;
    try {
      while (this.#running.length > 0) {
        for (const job of this.#running.filter((j) => j.signal?.aborted))
          this.#leave(job, new TackroomError('CANCELLED', 'The request was cancelled.'));
        if (this.#running.length > 0) await this.#round();
      }
    } finally {
      this.#looping = false;
    }
  }

  async #round(): Promise<void> {
    let budget = PREFILL_PER_ROUND;
    const jobs: Job[] = [];
    const items: DecodeItem[] = [];
    for (const job of this.#running) {
      const left = job.prompt.length - job.filled;
      if (left > 0) {
        if (budget === 0) continue;
        const n = Math.min(left, budget);
        budget -= n;
        const ids = job.prompt.subarray(job.filled, job.filled + n);
        items.push({ sequence: job.sequence, ids, sample: n === left ? job.sample : undefined });
      } else {
        items.push({ sequence: job.sequence, ids: Int32Array.of(job.out.completionIds.at(-1)!), sample: job.sample });
      }
      jobs.push(job);
    }
    const started = performance.now();
    let sampled: Sampled[];
    try {
      sampled = await this.model.decode(items);
    } catch (error) {
      for (const job of jobs) this.#leave(job, error as Error);
      return;
    }
    let drawn = 0;
    jobs.forEach((job, i) => {
      const left = job.prompt.length - job.filled;
      if (left > 0) job.filled += items[i]!.ids.length;
      const { token, logprob } = sampled[i]!;
      if (token < 0) return;
      drawn++;
      this.#accept(job, token, logprob);
    });
    this.#sampled += drawn;
    const seconds = (performance.now() - started) / 1000;
    this.#rate = 0.9 * this.#rate + 0.1 * (drawn / Math.max(seconds, 1e-6));
    this.#rateAt = Date.now();
  }

  #accept(job: Job, token: number, logprob: number): void {
    const out = job.out;
    if (out.completionIds.length === 0) out.firstTokenMs = performance.now() - job.startedAt;
    out.completionIds.push(token);
    out.logprobs.push(logprob);
    const end = job.endIds.has(token);
    if (!end) job.onToken?.(out.completionIds);
    if (end) out.finish = 'stop';
    if (end || out.completionIds.length >= job.maxTokens) this.#leave(job, null);
  }

  #leave(job: Job, error: Error | null): void {
    this.#running.splice(this.#running.indexOf(job), 1);
    if (error) {
      job.sequence.free();
      job.reject(error);
    } else {
      const held = job.sequence.length;
      const ids = new Int32Array(held);
      ids.set(job.prompt.subarray(0, Math.min(held, job.prompt.length)));
      ids.set(job.out.completionIds.slice(0, held - job.prompt.length), job.prompt.length);
      this.#cache.put(job.adapterKey, ids, job.sequence);
      job.resolve(job.out);
    }
    this.#waiting.shift()?.();
  }
}
