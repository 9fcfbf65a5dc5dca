/** Training with operands in 16 bits against the same in fp32: bf16, where the processor has a body for it, and int16. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PrecisionName, TrainerOptions, TrainSample } from '../../native/addon.js';
import { addon, scratchDir, tinyModel, tokens } from './support.js';

const scratch = scratchDir();
const hasBody = addon.cpuFeatures().bf16Body !== '';

const dot = (a: Float32Array, b: Float32Array) => a.reduce((s, x, i) => s + x * b[i]!, 0);
const cosine = (a: Float32Array, b: Float32Array) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

const rows: TrainSample[] = [70, 45, 90].map((n, i) => ({
  inputIds: Int32Array.from([...tokens(30, 1), ...tokens(n - 30, i + 2)]),
  weights: new Float32Array(n).fill(1),
}));

/** Widths that are no multiples of a panel, and an expert layer, whose gate and up are two matrices. */
const SHAPES: Record<string, Record<string, unknown>> = {
  llama: { hidden_size: 40, intermediate_size: 72 },
  qwen2: { model_type: 'qwen2', hidden_size: 64, tie_word_embeddings: false },
  lfm2_moe: {
    model_type: 'lfm2_moe',
    hidden_size: 48,
    layer_types: ['conv', 'full_attention'],
    num_dense_layers: 1,
    num_experts: 3,
    num_experts_per_tok: 3,
    moe_intermediate_size: 40,
  },
};

/** `tensor`: the least cosine of one tensor, `whole`: of the gradients together; `loss`: how far the loss may lie from fp32's. */
const FORMS = [
  { precision: 'bf16', runs: hasBody, loss: 0.02, whole: 0.998, tensor: 0.97 },
  { precision: 'int16', runs: true, loss: 0.002, whole: 0.99995, tensor: 0.999 },
] as const;

/** Gradients for one adapter in a precision; the adapter is made, and made to do something, in fp32. */
async function gradientsIn(name: string, precision: PrecisionName, options: TrainerOptions = {}) {
  const [dir, adapted] = [join(scratch, name), join(scratch, `${name}-adapter`)];
  if (!existsSync(adapted)) {
    await tinyModel(SHAPES[name]).save(dir, 'BF16');
    const exact = await addon.loadModel(dir, { precision: 'fp32' });
    const experts = name === 'lfm2_moe' ? 'each' : 'none';
    const adapter = exact.createAdapter({ rank: 8, alpha: 16, seed: 3, experts });
    await exact.newTrainer(adapter).step(rows, { loss: 'sft' }, 0.01);
    await adapter.save(adapted, 'tiny');
  }
  const model = await addon.loadModel(dir, { precision, threads: 2 });
  expect(model.info.trainingPrecision).toBe(precision);
  return model.newTrainer(await model.loadAdapter(adapted), options).gradients(rows, { loss: 'sft' });
}

const flat = (tensors: Record<string, Float32Array>) =>
  Float32Array.from(Object.values(tensors).flatMap((x) => Array.from(x)));

for (const { precision, runs, loss, whole, tensor: least } of FORMS)
  describe.skipIf(!runs)(`${precision}${runs ? '' : ' (needs AVX-512)'}`, () => {
    for (const name of Object.keys(SHAPES)) {
      it(`${name}: gradients point where those of fp32 do`, async () => {
        const [exact, rounded] = [await gradientsIn(name, 'fp32'), await gradientsIn(name, precision)];
        expect(Math.abs(rounded.loss - exact.loss)).toBeLessThan(loss);
        expect(cosine(flat(rounded.tensors), flat(exact.tensors))).toBeGreaterThan(whole);
        for (const [tensor, values] of Object.entries(rounded.tensors))
          expect(cosine(values, exact.tensors[tensor]!), tensor).toBeGreaterThan(least);
      });

      it(`${name}: checkpoints give the same bits, rows one by one the same gradients`, async () => {
        const plain = await gradientsIn(name, precision);
        expect(await gradientsIn(name, precision, { checkpoint: 'block' })).toEqual(plain);
        const apart = await gradientsIn(name, precision, { share: false });
        expect(cosine(flat(apart.tensors), flat(plain.tensors))).toBeGreaterThan(0.9999);
      });
    }
  });
