/** Training measurements on the addon, and serving beside a training step. */
import { tokens } from './open.mjs';

const LR = 1e-5;
const row = (ids) => ({ inputIds: ids, weights: new Float32Array(ids.length).fill(1) });

const newTrainer = (model, rank, options = {}) =>
  model.newTrainer(model.createAdapter({ rank, alpha: 2 * rank, seed: 1 }), { checkpoint: 'none', ...options });

const distinct = (rows, length) => Array.from({ length: rows }, (_, i) => row(tokens(length, 100 + i)));

/** Rows whose first `shared` tokens are the same. */
function forked(rows, length, shared) {
  const prefix = tokens(shared, 99);
  return Array.from({ length: rows }, (_, i) => {
    const ids = tokens(length, 200 + i);
    ids.set(prefix);
    return row(ids);
  });
}

async function stepMs(trainer, samples) {
  const start = performance.now();
  await trainer.step(samples, { loss: 'sft' }, LR);
  return performance.now() - start;
}

/** Least ms of each trainer over the repeats, the trainers in turn, after one step to warm up; sets `forwarded` of each entry. */
async function inTurn(repeats, entries) {
  const least = entries.map(() => Number.POSITIVE_INFINITY);
  for (const entry of entries)
    entry.forwarded = (await entry.trainer.step(entry.samples, { loss: 'sft' }, LR)).forwardedTokens;
  for (let i = 0; i < repeats; i++)
    for (const [k, { trainer, samples }] of entries.entries())
      least[k] = Math.min(least[k], await stepMs(trainer, samples));
  for (const { trainer } of entries) trainer.free();
  return least;
}

/** { tokensPerSecond } of a step over distinct rows. */
export async function train({ model }, { repeats, rows, length, rank }) {
  const [ms] = await inTurn(repeats, [{ trainer: newTrainer(model, rank), samples: distinct(rows, length) }]);
  return { tokensPerSecond: (1000 * rows * length) / ms };
}

/** Tokens of the rows per second, with and without sharing: rows with a common prefix, and rows with nothing in common. */
export async function tree({ model }, { repeats, rows, length, shared, rank }) {
  const common = forked(rows, length, shared);
  const apart = distinct(rows, length);
  const on = () => newTrainer(model, rank, { share: true });
  const off = () => newTrainer(model, rank, { share: false });
  const entries = [
    { trainer: on(), samples: common },
    { trainer: off(), samples: common },
    { trainer: on(), samples: apart },
    { trainer: off(), samples: apart },
  ];
  const [sharedMs, unsharedMs, apartOnMs, apartOffMs] = await inTurn(repeats, entries);
  const forwarded = entries.map((entry) => entry.forwarded);
  const distinctTokens = shared + rows * (length - shared);
  if (forwarded[0] !== distinctTokens || forwarded[1] !== rows * length)
    throw new Error(`Tokens computed: ${forwarded.join(', ')}; with sharing ${distinctTokens} were expected.`);
  const rate = (ms) => (1000 * rows * length) / ms;
  return { shared: rate(sharedMs), unshared: rate(unsharedMs), apartOn: rate(apartOnMs), apartOff: rate(apartOffMs) };
}

/** A prompt and an answer of one request: the same lengths idle and busy, because a longer context costs more. */
const PROMPT = 64;
const ANSWER = 192;

/** Tokens per second and longest gap, ms, of one request after the other while `work` runs. */
async function decodeWhile(scheduler, work, seed) {
  const stop = new AbortController();
  const stamps = [];
  let begun;
  let failure;
  const first = new Promise((resolve) => {
    begun = resolve;
  });
  const onToken = () => {
    stamps.push(performance.now());
    begun();
  };
  const request = {
    adapterKey: 'base',
    adapter: null,
    sample: { temperature: 0, seed: 1 },
    maxTokens: ANSWER,
    endIds: new Set(),
    onToken,
    signal: stop.signal,
  };
  const answers = (async () => {
    for (let i = 0; !stop.signal.aborted; i++) await scheduler.generate(tokens(PROMPT, 1000 * seed + i), request);
  })().catch((error) => {
    begun();
    if (!stop.signal.aborted) failure = error;
  });
  await first;
  const start = performance.now();
  await work();
  const end = performance.now();
  stop.abort();
  await answers;
  if (failure) throw failure;
  const within = [start, ...stamps.filter((at) => at > start && at < end), end];
  const gaps = within.slice(1).map((at, i) => at - within[i]);
  return { rate: (1000 * (within.length - 2)) / (end - start), gapMs: Math.max(...gaps), ms: end - start };
}

/** { idle, busy, gapMs, stepMs, busyStepMs }: decoding of one sequence alone and beside a training step. */
export async function yields({ model, scheduler }, { repeats, rows, length, rank }) {
  const trainer = newTrainer(model, rank);
  const samples = distinct(rows, length);
  await stepMs(trainer, samples);
  const result = { idle: 0, busy: 0, gapMs: 0, stepMs: Number.POSITIVE_INFINITY, busyStepMs: 0 };
  for (let i = 0; i < repeats; i++) {
    const idle = await decodeWhile(scheduler, () => new Promise((resolve) => setTimeout(resolve, 1500)), 300 + i);
    result.idle = Math.max(result.idle, idle.rate);
    result.stepMs = Math.min(result.stepMs, await stepMs(trainer, samples));
    const busy = await decodeWhile(scheduler, () => trainer.step(samples, { loss: 'sft' }, LR), 400 + i);
    if (busy.rate > result.busy) Object.assign(result, { busy: busy.rate, gapMs: busy.gapMs, busyStepMs: busy.ms });
  }
  trainer.free();
  return result;
}
