import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NativeModel, NativeTrainer } from '../../native/addon.js';
import {
  codeOf,
  maxDiff,
  policyRows,
  readSafetensors,
  scratchDir,
  tinyModel,
  tokens,
  trainedAdapter,
} from './support.js';

const scratch = scratchDir();
const rows = (model: NativeModel, count = 6) =>
  Array.from({ length: count }, (_, i) => ({
    inputIds: tokens(20 + 7 * i, i, model.info.vocabSize),
    weights: new Float32Array(20 + 7 * i).fill(1),
  }));

async function losses(trainer: NativeTrainer, model: NativeModel, steps: number): Promise<number[]> {
  const out: number[] = [];
  for (let i = 0; i < steps; i++) out.push((await trainer.step(rows(model), { loss: 'sft' }, 0.02)).loss);
  return out;
}

describe('resuming', () => {
  for (const optimizer of ['adamw', 'muon'] as const)
    it(`${optimizer}: a loaded state repeats the losses exactly, all weights`, async () => {
      const file = join(scratch, `${optimizer}.state`);
      const model = tinyModel();
      const trainer = model.newTrainer(null, { optimizer, weightDecay: 0.1 });
      await losses(trainer, model, 3);
      await trainer.saveState(file);
      const expected = await losses(trainer, model, 4);
      const other = tinyModel({}, { seed: 99 });
      const resumed = other.newTrainer(null, { optimizer, weightDecay: 0.1 });
      await resumed.loadState(file);
      expect(resumed.steps).toBe(3);
      expect(await losses(resumed, other, 4)).toEqual(expected);
      expect(resumed.steps).toBe(7);
      expect(expected[3]).toBeLessThan(expected[0]!);
    });

  it('an adapter goes on exactly too, from a trainer made for another adapter of the shape', async () => {
    const file = join(scratch, 'adapter.state');
    const model = tinyModel();
    const step = (trainer: NativeTrainer) => trainer.step(policyRows(model), { loss: 'gspo' }, 0.01);
    const adapter = model.createAdapter({ rank: 4, alpha: 8, seed: 1 });
    const trainer = model.newTrainer(adapter);
    await step(trainer);
    await trainer.saveState(file);
    const hash = adapter.hash();
    const expected = [await step(trainer), await step(trainer)].map((m) => m.gradNorm);
    const other = model.createAdapter({ rank: 4, alpha: 8, seed: 2 });
    const resumed = model.newTrainer(other);
    await resumed.loadState(file);
    expect(other.hash()).toBe(hash);
    expect([await step(resumed), await step(resumed)].map((m) => m.gradNorm)).toEqual(expected);
  });

  it('refuses a damaged file and one of other tensors, and changes nothing', async () => {
    const file = join(scratch, 'damage.state');
    const model = tinyModel();
    const adapter = await trainedAdapter(model, 1);
    const trainer = model.newTrainer(adapter);
    await trainer.saveState(file);
    const before = adapter.hash();
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(`${file}.flipped`, bytes);
    writeFileSync(`${file}.short`, bytes.subarray(0, bytes.length - 100));
    expect(await codeOf(() => trainer.loadState(`${file}.flipped`))).toBe('IO');
    expect(await codeOf(() => trainer.loadState(`${file}.short`))).toBe('IO');
    expect(await codeOf(() => trainer.loadState(`${file}.absent`))).toBe('IO');
    expect(
      await codeOf(() => model.newTrainer(model.createAdapter({ rank: 2, alpha: 2, seed: 1 })).loadState(file)),
    ).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => model.newTrainer(adapter, { optimizer: 'muon' }).loadState(file))).toBe('BAD_ARGUMENT');
    expect(adapter.hash()).toBe(before);
  });
});

describe('steps', () => {
  it('are reproducible for a number of threads and the same to rounding for another', async () => {
    const run = async (threads: number) => {
      const model = tinyModel({}, { threads });
      return losses(model.newTrainer(null), model, 3);
    };
    expect(await run(2)).toEqual(await run(2));
    expect(maxDiff(await run(3), await run(1))).toBeLessThan(1e-4);
  });

  it('train only what they were made for', async () => {
    const model = tinyModel();
    const ids = tokens(30, 1);
    const [before] = await model.logprobs([ids]);
    const adapter = model.createAdapter({ rank: 3, alpha: 6, seed: 1 });
    const [untouched] = await model.logprobs([ids], adapter);
    expect(maxDiff(untouched!, before!)).toBe(0);
    const hash = adapter.hash();
    await model.newTrainer(adapter).step(policyRows(model), { loss: 'dapo' }, 0.05);
    expect(adapter.hash()).not.toBe(hash);
    const [adapted] = await model.logprobs([ids], adapter);
    const [after] = await model.logprobs([ids]);
    expect(maxDiff(after!, before!)).toBe(0);
    expect(maxDiff(adapted!, before!)).toBeGreaterThan(1e-3);
  });

  it('the gradient of a batch is the weighted sum of those of its rows', async () => {
    const model = tinyModel();
    const trainer = model.newTrainer(null);
    const all = rows(model, 5);
    const weights = all.map((r) => r.weights.length - 1);
    const together = await trainer.gradients(all, { loss: 'sft' });
    const parts: Record<string, Float32Array>[] = [];
    for (const row of all) parts.push((await trainer.gradients([row], { loss: 'sft' })).tensors);
    const total = weights.reduce((a, b) => a + b);
    for (const [name, values] of Object.entries(together.tensors)) {
      const sum = values.map((_, i) => parts.reduce((s, part, j) => s + (part[name]![i]! * weights[j]!) / total, 0));
      expect(maxDiff(values, sum), name).toBeLessThan(1e-6);
    }
  });

  it('Muon makes the update of a matrix orthogonal and scales it like AdamW', async () => {
    const model = tinyModel({ num_hidden_layers: 1 });
    const name = 'model.layers.0.mlp.gate_proj.weight'; // [27, 20]
    const weights = async (dir: string) => {
      await model.save(join(scratch, dir));
      return readSafetensors(join(scratch, dir, 'model.safetensors')).get(name)!.values;
    };
    const before = await weights('muon-before');
    await model.newTrainer(null, { optimizer: 'muon' }).step(rows(model), { loss: 'sft' }, 0.01);
    const update = (await weights('muon-after')).map((x, i) => (before[i]! - x) / (0.01 * 0.2 * Math.sqrt(27)));
    // Columns: 20 vectors of 27; U^T U is near the identity (Newton-Schulz stops with singular values in about 0.7 .. 1.2).
    for (let a = 0; a < 20; a++)
      for (let b = 0; b <= a; b++) {
        let dot = 0;
        for (let r = 0; r < 27; r++) dot += update[r * 20 + a]! * update[r * 20 + b]!;
        if (a === b) expect(dot).toBeGreaterThan(0.3);
        expect(Math.abs(dot - (a === b ? 1 : 0))).toBeLessThan(0.6);
      }
    const rms = Math.sqrt(update.reduce((s, x) => s + x * x, 0) / update.length);
    expect(rms * 0.2 * Math.sqrt(27)).toBeGreaterThan(0.12);
    expect(rms * 0.2 * Math.sqrt(27)).toBeLessThan(0.25);
  });

  it('metrics count what was trained', async () => {
    const model = tinyModel();
    const samples = policyRows(model);
    const adapter = model.createAdapter({ rank: 2, alpha: 4, seed: 3 });
    const current = await model.logprobs(
      samples.map((s) => s.inputIds),
      adapter,
    );
    const trained = samples.reduce((n, s) => n + s.completionMask!.reduce((a, b) => a + b, 0), 0);
    const onPolicy = samples.map((s, i) => ({ ...s, oldLogprobs: current[i] }));
    const metrics = await model.newTrainer(adapter).step(onPolicy, { loss: 'dapo' }, 0);
    expect(metrics.trainedTokens).toBe(trained);
    expect(metrics.forwardedTokens).toBe(9 + 17 + 13 + 30);
    expect(metrics.kl).toBeLessThan(1e-8);
    expect([metrics.clipLowFrac, metrics.clipHighFrac]).toEqual([0, 0]);
    expect(metrics.entropy).toBeGreaterThan(0);
    expect(metrics.entropy).toBeLessThan(Math.log(61));
    const wantLoss =
      -samples.reduce((sum, s) => sum + s.advantage! * s.completionMask!.reduce((a, b) => a + b, 0), 0) / trained;
    expect(metrics.loss).toBeCloseTo(wantLoss, 4);
  });
});
