/** Reference outputs of real models (`../shared/real-models`) and how they are compared; tolerances from its README. */
import { expect, it } from 'vitest';
import type { NativeModel } from '../../native/addon.js';
import type { FetchedModel, RealModel } from '../support/real-models.js';
import { readJson } from './golden.js';
import { addon, generate, maxDiff } from './support.js';

interface Reference {
  models: {
    model: RealModel;
    prompts: { name: string; ids: number[]; logprobs: number[] }[];
    greedy: { ids: number[]; out_ids: number[]; last_logits: number[] }[];
  }[];
}

const negativeMean = (values: ArrayLike<number>) =>
  -Array.from(values)
    .slice(1)
    .reduce((sum, x) => sum + x, 0) /
  (values.length - 1);

const score = (model: NativeModel, ids: number[], path: 'serving' | 'training') =>
  model.logprobs([Int32Array.from(ids)], null, 1, path).then(([logprobs]) => logprobs!);

/** Log-probabilities of what `generate` samples, by decoding and by scoring. */
async function sampledTwice(model: NativeModel, prompt: number[], n: number) {
  const made = await generate(model, null, Int32Array.from(prompt), n, { temperature: 1, seed: 11 });
  const scored = await score(model, [...prompt, ...made.ids], 'serving');
  return { sampled: made.logprobs, scored: scored.subarray(prompt.length) };
}

/** Greedy continuations of several prompts in one batch, with their log-probabilities. */
async function continueAll(model: NativeModel, prompts: Int32Array[]): Promise<{ token: number; logprob: number }[][]> {
  const sequences = prompts.map(() => model.newSequence(null));
  const made: { token: number; logprob: number }[][] = prompts.map(() => []);
  let next = prompts;
  for (let i = 0; i < 12; i++) {
    const answers = await model.decode(
      sequences.map((sequence, j) => ({ sequence, ids: next[j]!, sample: { temperature: 0, seed: 0 } })),
    );
    answers.forEach((answer, j) => {
      made[j]!.push(answer);
    });
    next = answers.map(({ token }) => Int32Array.of(token));
  }
  for (const sequence of sequences) sequence.free();
  return made;
}

/** `fetched` is asked inside the tests: a model that cannot be had skips them with its reason. */
export function realModelTests(shared: string, name: RealModel, fetched: () => FetchedModel): void {
  const reference = readJson<Reference>(shared, 'real-models', 'real-models.json').models.find(
    (m) => m.model === name,
  )!;
  const longest = reference.prompts.reduce((a, b) => (a.ids.length > b.ids.length ? a : b));
  const open = (skip: (reason: string) => never, precision: 'fp32' | 'int16' | 'int8') => {
    const found = fetched();
    if ('unavailable' in found) return skip(found.unavailable);
    return addon.loadModel(found.path, { precision });
  };

  /** Holds the distances from the reference to what is allowed, over the tokens of all prompts; returns what was scored. */
  const expectClose = async (model: NativeModel, allowed: { mean: number; worst: number }) => {
    const scored = new Map<(typeof reference.prompts)[number], Float32Array>();
    let sum = 0;
    let count = 0;
    for (const prompt of reference.prompts) {
      const logprobs = await score(model, prompt.ids, 'serving');
      scored.set(prompt, logprobs);
      expect(maxDiff(logprobs, prompt.logprobs)).toBeLessThan(allowed.worst);
      for (let t = 1; t < logprobs.length; t++) sum += Math.abs(logprobs[t]! - prompt.logprobs[t]!);
      count += logprobs.length - 1;
    }
    expect(sum / count).toBeLessThan(allowed.mean);
    return scored;
  };

  it(`${name}: fp32 path`, { timeout: 240_000 }, async ({ skip }) => {
    const model = await open(skip, 'fp32');
    for (const prompt of reference.prompts)
      expect(maxDiff(await score(model, prompt.ids, 'serving'), prompt.logprobs)).toBeLessThan(2e-4);
    const vocab = model.info.vocabSize;
    for (const greedy of reference.greedy) {
      const made = await generate(model, null, Int32Array.from(greedy.ids), greedy.out_ids.length);
      expect(made.ids).toEqual(greedy.out_ids);
      const logits = await model.logits(Int32Array.from(greedy.ids));
      const last = logits.subarray((greedy.ids.length - 1) * vocab, (greedy.ids.length - 1) * vocab + 16);
      expect(maxDiff(last, greedy.last_logits)).toBeLessThan(5e-4);
    }
    const { sampled, scored } = await sampledTwice(model, reference.greedy[0]!.ids, 24);
    expect(maxDiff(sampled, scored)).toBeLessThan(5e-5);
    model.free();
  });

  it(`${name}: int16 path`, { timeout: 240_000 }, async ({ skip }) => {
    const model = await open(skip, 'int16');
    // bf16 is at 0.006 to 0.01.
    await expectClose(model, { mean: 0.005, worst: 0.15 });
    model.free();
  });

  it(`${name}: 8-bit path`, { timeout: 240_000 }, async ({ skip }) => {
    const model = await open(skip, 'int8');
    expect(model.info.servingPrecision).toBe('int8');
    const logprobs = await expectClose(model, { mean: 0.1, worst: 0.8 });
    expect(Math.abs(negativeMean(logprobs.get(longest)!) - negativeMean(longest.logprobs))).toBeLessThan(0.005);
    // A token's result does not depend on the batch it travels in, bit for bit.
    const prompts = reference.greedy.map((greedy) => Int32Array.from(greedy.ids));
    const alone = [];
    for (const prompt of prompts) alone.push(await continueAll(model, [prompt]));
    expect(await continueAll(model, prompts)).toEqual(alone.flat());
    model.free();
  });

  it(`${name}: what is sampled for training is what training computes`, { timeout: 240_000 }, async ({ skip }) => {
    const model = await open(skip, 'int8');
    const prompt = reference.greedy[0]!.ids;
    const sequence = model.newSequence(null, { path: 'training' });
    let next = Int32Array.from(prompt);
    const ids = [...prompt];
    const sampled: number[] = [];
    for (let i = 0; i < 24; i++) {
      const [answer] = await model.decode([{ sequence, ids: next, sample: { temperature: 1, seed: 5 } }]);
      ids.push(answer!.token);
      sampled.push(answer!.logprob);
      next = Int32Array.of(answer!.token);
    }
    const scored = await score(model, ids, 'training');
    expect(maxDiff(sampled, scored.subarray(prompt.length))).toBeLessThan(5e-5);
    // The trainer too: at a learning rate of 0 its distance to the sampler is that of rounding.
    const trainer = model.newTrainer(model.createAdapter({ rank: 4, alpha: 8, seed: 1 }));
    const sample = {
      inputIds: Int32Array.from(ids),
      completionMask: Uint8Array.from(ids, (_, t) => (t < prompt.length ? 0 : 1)),
      oldLogprobs: Float32Array.from(ids, (_, t) => (t < prompt.length ? 0 : sampled[t - prompt.length]!)),
      advantage: 1,
    };
    expect((await trainer.step([sample], { loss: 'dapo' }, 0)).kl).toBeLessThan(1e-8);
    model.free();
  });
}
