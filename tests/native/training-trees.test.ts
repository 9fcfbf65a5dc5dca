/** Shared prefixes, checkpoints and threads change how a step is computed, never what it computes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LossOptions, NativeModel, TrainerOptions, TrainSample } from '../../native/addon.js';
import '../support/property-seed.js';
import { codeOf, maxDiff, policyRows, tinyModel, tokens, trainedAdapter } from './support.js';

const lfm = {
  layer_types: ['conv', 'full_attention', 'conv'],
  num_hidden_layers: 3,
  conv_L_cache: 3,
  block_auto_adjust_ff_dim: false,
  norm_eps: 1e-5,
};
/** One of each kind of block. */
const SHAPES: Record<string, Record<string, unknown>> = {
  llama: {},
  qwen3: { model_type: 'qwen3' },
  gemma3: {
    model_type: 'gemma3_text',
    hidden_activation: 'gelu_pytorch_tanh',
    sliding_window: 7,
    layer_types: ['sliding_attention', 'full_attention'],
    query_pre_attn_scalar: 5,
    rope_parameters: undefined,
  },
  lfm2: { model_type: 'lfm2', ...lfm },
  lfm2_moe: {
    model_type: 'lfm2_moe',
    ...lfm,
    num_dense_layers: 1,
    num_experts: 5,
    num_experts_per_tok: 2,
    moe_intermediate_size: 9,
    norm_topk_prob: true,
    use_expert_bias: true,
  },
};

const LOSSES: LossOptions[] = [{ loss: 'dapo' }, { loss: 'grpo' }, { loss: 'gspo' }, { loss: 'cispo', clipHigh: 2 }];

/** Rows that grow out of each other: each takes a prefix of an earlier one, or none, and goes on by itself. */
const forests = fc
  .array(fc.record({ from: fc.nat(20), keep: fc.nat(40), grow: fc.nat(25), seed: fc.nat(1000) }), {
    minLength: 1,
    maxLength: 9,
  })
  .map((plan) => {
    const rows: number[][] = [];
    for (const { from, keep, grow, seed } of plan) {
      const parent = rows.length === 0 ? [] : rows[from % rows.length]!;
      const row = [...parent.slice(0, keep), ...tokens(grow, seed, 61)];
      rows.push(row.length < 2 ? [5, 6, 7] : row);
    }
    return rows;
  });

const samplesOf = (rows: number[][]): TrainSample[] =>
  rows.map((ids, i) => ({
    inputIds: Int32Array.from(ids),
    completionMask: Uint8Array.from(ids, (_, t) => ((t > 0 && (t + i) % 4 !== 0) || t === 1 ? 1 : 0)),
    oldLogprobs: Float32Array.from(ids, (_, t) => -4 - ((t * 7 + i) % 11) / 20),
    advantage: [0.8, -1.1, 0.3, 0, 1.4][i % 5],
  }));

/** Distinct prefixes: the tokens that need computing when all are shared. */
function distinct(rows: number[][]): number {
  const seen = new Set<string>();
  for (const row of rows) for (let n = 1; n <= row.length; n++) seen.add(row.slice(0, n).join(','));
  return seen.size;
}

async function gradientsOf(model: NativeModel, samples: TrainSample[], loss: LossOptions, options: TrainerOptions) {
  const trainer = model.newTrainer(await trainedAdapter(model, 4), options);
  const result = await trainer.gradients(samples, loss);
  trainer.free();
  return result;
}

describe('shared prefixes', () => {
  for (const [name, shape] of Object.entries(SHAPES))
    it(`${name}: the loss and every gradient are those of the rows one by one`, async () => {
      const model = tinyModel(shape);
      await fc.assert(
        fc.asyncProperty(forests, fc.integer({ min: 8, max: 200 }), fc.nat(3), async (rows, tokenBudget, which) => {
          const samples = samplesOf(rows);
          const loss = LOSSES[which]!;
          const plain = await gradientsOf(model, samples, loss, { share: false });
          expect(plain.forwardedTokens).toBe(rows.reduce((n, row) => n + row.length, 0));
          for (const budget of [tokenBudget, 4096]) {
            const shared = await gradientsOf(model, samples, loss, { tokenBudget: budget });
            expect(shared.forwardedTokens).toBeLessThanOrEqual(plain.forwardedTokens);
            if (budget === 4096) expect(shared.forwardedTokens).toBe(distinct(rows));
            expect(Math.abs(shared.loss - plain.loss)).toBeLessThan(1e-5);
            for (const [tensor, values] of Object.entries(shared.tensors))
              expect(maxDiff(values, plain.tensors[tensor]!), tensor).toBeLessThan(5e-5);
          }
        }),
        { numRuns: 12 },
      );
    });

  it('rows that are equal are computed once and count each', async () => {
    const model = tinyModel();
    const [row] = samplesOf([Array.from(tokens(20, 1))]);
    const once = await gradientsOf(model, [row!], { loss: 'dapo' }, {});
    const thrice = await gradientsOf(model, [row!, row!, row!], { loss: 'dapo' }, {});
    expect([once.forwardedTokens, thrice.forwardedTokens]).toEqual([20, 20]);
    expect(Math.abs(once.loss - thrice.loss)).toBeLessThan(1e-6);
    for (const [tensor, values] of Object.entries(thrice.tensors))
      expect(maxDiff(values, once.tensors[tensor]!), tensor).toBeLessThan(1e-6);
  });

  it('every weight, the embedding too', async () => {
    const model = tinyModel({ tie_word_embeddings: false, ...SHAPES.lfm2_moe });
    const rows = [0, 1, 2].map((i) => [...tokens(12, 1), ...tokens(9 + i, i + 2)]);
    const samples = rows.map((ids) => ({
      inputIds: Int32Array.from(ids),
      weights: new Float32Array(ids.length).fill(1),
    }));
    const shared = await model.newTrainer(null).gradients(samples, { loss: 'sft' });
    const plain = await model.newTrainer(null, { share: false }).gradients(samples, { loss: 'sft' });
    expect(shared.forwardedTokens).toBe(distinct(rows));
    for (const [tensor, values] of Object.entries(shared.tensors))
      expect(maxDiff(values, plain.tensors[tensor]!), tensor).toBeLessThan(5e-5);
  });
});

describe('the same bits', () => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    it(`${name}: with checkpoints`, async () => {
      const model = tinyModel(shape);
      const samples = samplesOf([0, 1, 2].map((i) => [...tokens(30, 1), ...tokens(10 * i + 5, i)]));
      const kept = await gradientsOf(model, samples, { loss: 'dapo' }, { tokenBudget: 60 });
      const again = await gradientsOf(model, samples, { loss: 'dapo' }, { tokenBudget: 60, checkpoint: 'block' });
      expect(again).toEqual(kept);
      expect(kept.gradNorm).toBeGreaterThan(0);
    });

    it(`${name}: for any number of threads`, async () => {
      const run = async (threads: number) => {
        const model = tinyModel(shape, { threads });
        const ids = [0, 1, 2, 3].map((i) => [...tokens(150, 1), ...tokens(40 * i + 5, i)]);
        const adapted = await gradientsOf(model, samplesOf(ids), { loss: 'dapo' }, {});
        const weights = ids.map((row) => ({
          inputIds: Int32Array.from(row),
          weights: new Float32Array(row.length).fill(1),
        }));
        const trainer = model.newTrainer(null);
        const losses = [
          await trainer.step(weights, { loss: 'sft' }, 0.01),
          await trainer.step(weights, { loss: 'sft' }, 0.01),
        ];
        return [adapted, ...losses.map((m) => [m.loss, m.gradNorm, m.entropy])];
      };
      const [one, two, three] = [await run(1), await run(2), await run(3)];
      expect(two).toEqual(one);
      expect(three).toEqual(one);
    });
  }

  it('checkpoints need less memory', async () => {
    const model = tinyModel({ num_hidden_layers: 6 });
    const use = async (checkpoint: 'none' | 'block') => {
      const trainer = model.newTrainer(await trainedAdapter(model, 4), { checkpoint });
      await trainer.step(policyRows(model), { loss: 'dapo' }, 1e-3);
      return (await trainer.memory()).tape;
    };
    expect((await use('block')) * 6).toBe(await use('none'));
  });
});

describe('a step that does not end', () => {
  it('stops before the update when something is not a number, and says where', async () => {
    const model = tinyModel();
    const adapter = await trainedAdapter(model, 2);
    const trainer = model.newTrainer(adapter);
    await trainer.step(policyRows(model), { loss: 'dapo' }, 1e-3);
    const before = adapter.hash();
    const rows = policyRows(model);
    rows[1]!.oldLogprobs![6] = Number.NaN;
    const step = () => trainer.step(rows, { loss: 'dapo' }, 1e-3);
    expect(await codeOf(step)).toBe('NOT_FINITE');
    await expect(step()).rejects.toThrow(/Step 2 .*the loss is not finite/);
    expect([adapter.hash(), trainer.steps]).toEqual([before, 1]);
    await trainer.step(policyRows(model), { loss: 'dapo' }, 1e-3);
    expect(trainer.steps).toBe(2);
  });

  it('names the first tensor whose gradient is not finite', async () => {
    // exp(590) is finite as the loss of a row, but not as the gradient of a weight.
    const model = tinyModel();
    const trainer = model.newTrainer(null);
    const rows = policyRows(model).map((row) => ({
      ...row,
      advantage: -1,
      oldLogprobs: row.oldLogprobs!.map((x) => x - 590),
    }));
    await expect(trainer.step(rows, { loss: 'dapo' }, 1e-3)).rejects.toThrow(
      /Step 1 .*the gradient of model\.embed_tokens\.weight is not finite/,
    );
    expect(trainer.steps).toBe(0);
  });

  it('leaves weights, moments and step count when it is cancelled', async () => {
    const model = tinyModel({ num_hidden_layers: 8 });
    const rows = Array.from({ length: 12 }, (_, i) => ({
      inputIds: tokens(400, i),
      weights: new Float32Array(400).fill(1),
    }));
    const start = async () => {
      const adapter = await trainedAdapter(model, 3);
      const trainer = model.newTrainer(adapter, { tokenBudget: 16 });
      await trainer.step(rows, { loss: 'sft' }, 1e-3);
      return { adapter, trainer };
    };
    const cancelled = await start();
    const pending = [1, 2, 3].map(() => codeOf(() => cancelled.trainer.step(rows, { loss: 'sft' }, 1e-3)));
    cancelled.trainer.cancel();
    // On a busy machine the first may have ended before the call.
    const codes = await Promise.all(pending);
    const done = codes.filter((code) => code === 'no error').length;
    expect(codes.slice(done)).toEqual(Array(3 - done).fill('CANCELLED'));
    expect(done).toBeLessThan(3);
    expect(cancelled.trainer.steps).toBe(1 + done);
    await cancelled.trainer.step(rows, { loss: 'sft' }, 1e-3);

    const plain = await start();
    for (let i = 0; i <= done; i++) await plain.trainer.step(rows, { loss: 'sft' }, 1e-3);
    expect([cancelled.adapter.hash(), cancelled.trainer.steps]).toEqual([plain.adapter.hash(), plain.trainer.steps]);
  });
});
