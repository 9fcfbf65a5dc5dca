/**
 * Continuous batching: each round is one native forward pass over every running request (one token each) and the next
 * chunk of those still in their prompt. Requests join and leave between rounds; a cancelled one leaves at the next round.
 */
import type { DecodeItem, NativeModel, Sampled } from '../../native/addon.js';
import { type GenerateOptions, type Generation, heldIds, isDecoding, type Job } from './job.js';
import { checkPrompt, kvBytesPerToken, type ServingLimits, sequenceBytes } from './limits.js';
import { PrefillBudget, sharePrefill } from './prefill-plan.js';
import { commonPrefix, MIN_SHARED_TOKENS, PrefixCache } from './prefix-cache.js';
import { RateMeter } from './rate-meter.js';
import { cancelled, WaitingQueue } from './waiting-queue.js';

export interface SchedulerStatus {
  decoding: number;
  /** In their prompt, or waiting for the common part of another's. */
  prefilling: number;
  queued: number;
  /** Why those in the queue wait, and how long the oldest does; null when none do. */
  waitsFor: { what: 'place' | 'memory'; oldestMs: number } | null;
  decodeTokensPerSecond: number;
  prefillTokensPerSecond: number;
  kv: { limitBytes: number; runningBytes: number; cacheBytes: number; cachedSequences: number; bytesPerToken: number };
}

/** Whether `job` is `other`, or waits for what `other` computes, directly or through others. */
function follows(job: Job, other: Job): boolean {
  for (let at: Job | null = job; at; at = at.leader) if (at === other) return true;
  return false;
}

/** Sequences of different adapters or numeric forms never share. */
const cacheKey = (options: GenerateOptions): string => `${options.adapterKey}/${options.path ?? 'serving'}`;

export class Scheduler {
  #running: Job[] = [];
  #looping = false;
  #reservedBytes = 0;
  readonly #queue: WaitingQueue<Job>;
  readonly #cache: PrefixCache;
  readonly #budget: PrefillBudget;
  readonly #decodeRate = new RateMeter();
  readonly #prefillRate = new RateMeter();
  readonly #bytesPerToken: number;

  constructor(
    private readonly model: NativeModel,
    private readonly limits: ServingLimits,
  ) {
    this.#bytesPerToken = kvBytesPerToken(model.info);
    this.#queue = new WaitingQueue(limits.maxQueued, limits.queueDeadlineMs);
    this.#cache = new PrefixCache(limits.kvBytes, (tokens) => sequenceBytes(tokens, this.#bytesPerToken));
    this.#budget = new PrefillBudget(limits.prefillTokens, limits.gapMs);
  }

  status(): SchedulerStatus {
    const now = performance.now();
    const decoding = this.#running.filter(isDecoding).length;
    const full = this.#running.length >= this.limits.maxRunning;
    const oldestMs = this.#queue.oldestMs(now);
    return {
      decoding,
      prefilling: this.#running.length - decoding,
      queued: this.#queue.size,
      waitsFor: this.#queue.size === 0 ? null : { what: full ? 'place' : 'memory', oldestMs },
      decodeTokensPerSecond: this.#decodeRate.value(now),
      prefillTokensPerSecond: this.#prefillRate.value(now),
      kv: {
        limitBytes: this.limits.kvBytes,
        runningBytes: this.#reservedBytes,
        cacheBytes: this.#cache.bytes,
        cachedSequences: this.#cache.sequences,
        bytesPerToken: this.#bytesPerToken,
      },
    };
  }

  /** Lets go of what is kept for an adapter; called when no request runs on it any more. */
  dropAdapter(adapterKey: string): void {
    this.#cache.drop((key) => key.startsWith(`${adapterKey}/`));
  }

  /**
   * Samples after `prompt` until an end token, the caller's stop or `maxTokens`. Errors: BAD_ARGUMENT, CONTEXT_FULL, BUSY
   * (the queue is full), DEADLINE (no place in time), CANCELLED, OUT_OF_MEMORY.
   */
  async generate(prompt: Int32Array, options: GenerateOptions): Promise<Generation> {
    const contextTokens = this.model.info.contextLength;
    const kvTokens = this.#kvTokens();
    checkPrompt(prompt.length, { contextTokens, kvTokens, maxPromptTokens: options.maxPromptTokens });
    const maxTokens = Math.min(options.maxTokens, Math.min(contextTokens, kvTokens) - prompt.length);
    return new Promise<Generation>((resolve, reject) => {
      this.#queue.push({
        options,
        prompt,
        maxTokens,
        kvBytes: sequenceBytes(prompt.length + maxTokens, this.#bytesPerToken),
        out: { completionIds: [], logprobs: [], finish: 'length', cachedTokens: 0, firstTokenMs: 0 },
        priority: options.priority ?? 'interactive',
        signal: options.signal,
        arrivedAt: performance.now(),
        sequence: null,
        leader: null,
        shared: 0,
        filled: 0,
        left: false,
        resolve,
        reject,
      });
      if (!this.#looping) void this.#loop();
    });
  }

  /** Tokens that fit a single sequence: sequences take their memory in steps. */
  #kvTokens(): number {
    const step = sequenceBytes(1, this.#bytesPerToken);
    return (Math.floor(this.limits.kvBytes / step) * step) / this.#bytesPerToken;
  }

  async #loop(): Promise<void> {
    this.#looping = true;
    try {
      for (;;) {
        for (const job of this.#running.filter(({ signal }) => signal?.aborted)) this.#leave(job, cancelled());
        this.#admit();
        this.#shareAmongRunning();
        if (this.#running.length === 0) break;
        await this.#round();
      }
    } finally {
      this.#looping = false;
    }
  }

  #admit(): void {
    for (;;) {
      const next = this.#queue.peek();
      if (!next || this.#running.length >= this.limits.maxRunning) return;
      if (this.#reservedBytes + next.kvBytes > this.limits.kvBytes) return;
      this.#queue.shift();
      try {
        this.#begin(next);
      } catch (error) {
        next.reject(error as Error);
        continue;
      }
      this.#running.push(next);
      this.#reservedBytes += next.kvBytes;
      this.#cache.trim(this.limits.kvBytes - this.#reservedBytes);
    }
  }

  /** Starts from the longest known prefix: held, in a running request, or one that a running request will have soon. */
  #begin(job: Job): void {
    const { prompt } = job;
    const key = cacheKey(job.options);
    let held = this.#cache.match(key, prompt);
    let source: Job | null = null;
    let leader: Job | null = null;
    let coming = held;
    for (const other of this.#running) {
      if (cacheKey(other.options) !== key || follows(other, job)) continue;
      const common = Math.min(commonPrefix(other.prompt, prompt), prompt.length - 1);
      const there = Math.min(common, other.sequence?.length ?? 0);
      if (there >= MIN_SHARED_TOKENS && there > held) [held, source] = [there, other];
      if (common > coming && !isDecoding(other)) [coming, leader] = [common, other];
    }
    if (leader && coming >= held + MIN_SHARED_TOKENS) {
      job.leader = leader;
      job.shared = coming;
      return;
    }
    job.sequence =
      source?.sequence?.clone(held) ??
      this.#cache.take(key, prompt) ??
      this.model.newSequence(job.options.adapter, { path: job.options.path });
    job.filled = job.sequence.length;
    job.out.cachedTokens = job.filled;
  }

  /** Those who waited for the common part of another's prompt take it, or look for another when that one left. */
  #shareAmongRunning(): void {
    for (const job of [...this.#running]) {
      const { leader } = job;
      if (!leader || (!leader.left && leader.filled < job.shared)) continue;
      job.leader = null;
      try {
        this.#begin(job);
      } catch (error) {
        this.#leave(job, error as Error);
      }
    }
  }

  async #round(): Promise<void> {
    const prefilling = this.#running.filter((job) => job.sequence && !isDecoding(job));
    const decoding = this.#running.filter(isDecoding);
    const now = performance.now();
    const shares = sharePrefill(
      prefilling.map((job) => ({
        left: job.prompt.length - job.filled,
        waitedMs: now - job.arrivedAt,
        priority: this.#priorityOf(job),
      })),
      this.#budget.tokens(decoding.length > 0),
    );
    const batch: { job: Job; item: DecodeItem }[] = [];
    for (const job of decoding) this.#add(batch, job, Int32Array.of(job.out.completionIds.at(-1)!), true);
    prefilling.forEach((job, i) => {
      const end = job.filled + shares[i]!;
      if (end > job.filled) this.#add(batch, job, job.prompt.subarray(job.filled, end), end === job.prompt.length);
    });
    if (batch.length === 0) return;
    const drawn = await this.#decode(batch);
    const ended = performance.now();
    const prompted = shares.reduce((sum, n) => sum + n, 0);
    this.#budget.observe(prompted + decoding.length, ended - now);
    if (drawn > 0) this.#decodeRate.add(drawn, (ended - now) / 1000, ended);
    if (prompted > 0) this.#prefillRate.add(prompted, (ended - now) / 1000, ended);
  }

  /** A request counts as the user's own when one of the user's waits for what it computes. */
  #priorityOf(job: Job): Job['priority'] {
    return this.#running.some((other) => other.leader === job && other.priority === 'interactive')
      ? 'interactive'
      : job.priority;
  }

  #add(batch: { job: Job; item: DecodeItem }[], job: Job, ids: Int32Array, draws: boolean): void {
    try {
      const allowed = draws ? job.options.constraint?.allowed() : undefined;
      const sample = draws ? { ...job.options.sample, ...(allowed && { allowed }) } : undefined;
      batch.push({ job, item: { sequence: job.sequence!, ids, sample } });
    } catch (error) {
      this.#leave(job, error as Error);
    }
  }

  /** One pass over all; when it fails, each by itself, so that one bad request fails alone. Returns the tokens drawn. */
  async #decode(batch: { job: Job; item: DecodeItem }[]): Promise<number> {
    let sampled: Sampled[];
    try {
      sampled = await this.model.decode(batch.map(({ item }) => item));
    } catch (error) {
      if (batch.length === 1) {
        this.#leave(batch[0]!.job, error as Error);
        return 0;
      }
      let drawn = 0;
      for (const one of batch) drawn += await this.#decode([one]);
      return drawn;
    }
    let drawn = 0;
    batch.forEach(({ job, item }, i) => {
      if (!isDecoding(job)) job.filled += item.ids.length;
      const { token, logprob } = sampled[i]!;
      if (token < 0) return;
      drawn++;
      this.#accept(job, token, logprob);
    });
    return drawn;
  }

  #accept(job: Job, token: number, logprob: number): void {
    const { out, options } = job;
    if (out.completionIds.length === 0) out.firstTokenMs = performance.now() - job.arrivedAt;
    out.completionIds.push(token);
    out.logprobs.push(logprob);
    try {
      if (options.endIds.has(token)) out.finish = 'stop';
      else {
        options.constraint?.accept(token);
        if (options.onToken?.(out.completionIds)) out.finish = 'stop_string';
      }
    } catch (error) {
      this.#leave(job, error as Error);
      return;
    }
    if (out.finish !== 'length' || out.completionIds.length >= job.maxTokens) this.#leave(job, null);
  }

  /** What is computed stays for the next request with the same beginning, unless it may be broken. */
  #leave(job: Job, error: Error | null): void {
    const { sequence, options } = job;
    job.left = true;
    this.#running.splice(this.#running.indexOf(job), 1);
    this.#reservedBytes -= job.kvBytes;
    this.#cache.trim(this.limits.kvBytes - this.#reservedBytes);
    const whole = error === null || job.signal?.aborted === true;
    if (sequence && whole) this.#cache.put(cacheKey(options), heldIds(job), sequence);
    else sequence?.free();
    if (error) job.reject(error);
    else job.resolve(job.out);
  }
}
