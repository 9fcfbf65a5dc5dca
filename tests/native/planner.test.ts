/** The planner against a step: bytes by what they are for. Its speeds are checked by tests/bench/planner.mjs on an idle machine. */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExpertAdapters, NativeModel, PlanOptions, TrainPlan } from '../../native/addon.js';
import { describeShared } from '../support/shared.js';
import { addon, codeOf, scratchDir, tinyConfig, tinyModel, tokens } from './support.js';

const SHAPES: Record<string, Record<string, unknown>> = {
  llama: { hidden_size: 192, intermediate_size: 512, num_hidden_layers: 4, head_dim: 32 },
  gemma3: {
    model_type: 'gemma3_text',
    hidden_activation: 'gelu_pytorch_tanh',
    hidden_size: 192,
    intermediate_size: 512,
    head_dim: 32,
    sliding_window: 16,
    layer_types: ['sliding_attention', 'full_attention'],
  },
  lfm2: {
    model_type: 'lfm2',
    hidden_size: 192,
    intermediate_size: 512,
    head_dim: 32,
    layer_types: ['conv', 'full_attention'],
    block_auto_adjust_ff_dim: false,
  },
};

const MOE = {
  model_type: 'lfm2_moe',
  hidden_size: 192,
  intermediate_size: 512,
  moe_intermediate_size: 96,
  num_hidden_layers: 4,
  num_dense_layers: 1,
  num_experts: 8,
  num_experts_per_tok: 2,
  use_expert_bias: true,
  norm_topk_prob: true,
  conv_L_cache: 3,
  norm_eps: 1e-5,
  head_dim: 32,
  layer_types: ['conv', 'full_attention', 'conv', 'full_attention'],
};

const hasBf16 = addon.cpuFeatures().bf16Body !== '';

/** Two micro-batches of two rows, planned and run: what is kept to the byte, all of it within 15 %. */
async function expectHeld(
  model: NativeModel,
  checkpoint: 'none' | 'block',
  experts: ExpertAdapters,
): Promise<TrainPlan> {
  const [rank, longest, tokenBudget] = [8, 200, 400];
  const adapter = model.createAdapter({ rank, alpha: 8, seed: 1, experts });
  const trainer = model.newTrainer(adapter, { checkpoint, tokenBudget });
  const rows = [1, 2, 3, 4].map((i) => ({
    inputIds: tokens(longest, i, 2000).map((id, t) => (t === 0 ? 3 + i : id)),
    weights: new Float32Array(longest).fill(1),
  }));
  await trainer.step(rows, { loss: 'sft' }, 1e-3);
  const held = await trainer.memory();
  const plan = model.planTraining({ rank, experts, longest, tokens: 4 * longest, tokenBudget, checkpoint });
  expect([plan.tokenBudget, plan.microBatches, plan.seconds]).toEqual([400, 2, 0]);
  // Each tensor starts on a line of 16 floats, hence not always to the byte. An expert keeps the room of its fullest micro-batch.
  for (const part of ['gradients', 'optimizer', 'tape', 'stream'] as const)
    expect(Math.abs(plan.memory[part] / held[part] - 1), part).toBeLessThan(
      part === 'tape' && model.info.experts > 0 ? 0.05 : 0.005,
    );
  expect(Math.abs(plan.memory.total / held.total - 1)).toBeLessThan(0.15);
  return plan;
}

describe('the plan of a step', () => {
  for (const [name, shape] of Object.entries(SHAPES))
    for (const checkpoint of ['none', 'block'] as const)
      it(`${name}, checkpoint ${checkpoint}: what is kept to the byte, all of it within 15 %`, async () => {
        await expectHeld(tinyModel({ vocab_size: 2000, ...shape }), checkpoint, 'none');
      });

  it.skipIf(!hasBf16)('of a model in bf16', async () => {
    const dir = join(scratchDir(), 'bf16');
    await tinyModel({ vocab_size: 2000, ...SHAPES.llama }).save(dir, 'BF16');
    const model = await addon.loadModel(dir, { precision: 'bf16', threads: 2 });
    expect(model.info.trainingPrecision).toBe('bf16');
    for (const checkpoint of ['none', 'block'] as const) await expectHeld(model, checkpoint, 'none');
  });

  it('a mixture of experts, by what its experts get', async () => {
    const model = tinyModel({ vocab_size: 2000, ...MOE });
    const [none, shared, each] = [
      await expectHeld(model, 'none', 'none'),
      await expectHeld(model, 'none', 'shared'),
      await expectHeld(model, 'none', 'each'),
    ];
    // Of three layers the pairs of gate and up, and of down; eight times as many with a pair each.
    const pairs = 3 * 8 * (192 + 2 * 96 + 96 + 192);
    expect(shared.memory.gradients - none.memory.gradients).toBe(4 * pairs);
    expect(each.memory.gradients - none.memory.gradients).toBe(4 * 8 * pairs);
    expect(await codeOf(() => tinyModel().planTraining({ rank: 4, experts: 'each' }))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => model.planTraining({ rank: 4, experts: 'all' as never }))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => model.planTraining({ rank: 193 }))).toBe('BAD_ARGUMENT');
  });

  it('takes its speed from a calibration of this model', async () => {
    const model = tinyModel({ vocab_size: 500, hidden_size: 96, intermediate_size: 256, head_dim: 24 });
    const speeds = await model.calibrate(4);
    expect(Math.min(speeds.layers, speeds.head)).toBeGreaterThan(0);
    const short = model.planTraining({ rank: 4, tokens: 512, longest: 64 }, speeds);
    const long = model.planTraining({ rank: 4, tokens: 512, longest: 512 }, speeds);
    const few = model.planTraining({ rank: 4, tokens: 512, longest: 64, trainedShare: 0.1 }, speeds);
    expect(long.seconds).toBeGreaterThan(short.seconds);
    expect(few.seconds).toBeLessThan(short.seconds);
    expect(short.tokensPerSecond * short.seconds).toBeCloseTo(512, 6);
    expect(await codeOf(() => model.planTraining({ rank: 4, trainedShare: 2 }))).toBe('BAD_ARGUMENT');
  });
});

describe('the plan from files alone', () => {
  const requests: PlanOptions[] = [{}, { rank: 4, tokens: 5000, longest: 300, checkpoint: 'block' }];

  async function expectSame(path: string, extra: PlanOptions = {}): Promise<void> {
    for (const precision of hasBf16 ? (['auto', 'fp32', 'bf16'] as const) : (['auto', 'fp32'] as const)) {
      const model = await addon.loadModel(path, { precision, threads: 2 });
      for (const request of requests) {
        const wanted = { rank: 8, ...request, ...extra };
        const plan = addon.planTraining(path, { ...wanted, precision, threads: 2 });
        expect(plan).toEqual(model.planTraining(wanted));
        expect(plan.weights).toBe(model.info.bytes);
      }
      model.free();
    }
    const whole = await addon.loadModel(path, { trainable: true, threads: 2 });
    expect(addon.planTraining(path, { rank: 0, threads: 2 })).toEqual(whole.planTraining({ rank: 0 }));
    whole.free();
  }

  it('has the figures of the loaded model: folders', async () => {
    const dir = scratchDir();
    for (const dtype of ['F32', 'BF16'] as const) {
      await tinyModel({ hidden_size: 64, tie_word_embeddings: dtype === 'F32' }).save(join(dir, dtype), dtype);
      await expectSame(join(dir, dtype));
    }
    await tinyModel(MOE).save(join(dir, 'moe'));
    for (const experts of ['none', 'shared', 'each'] as const) await expectSame(join(dir, 'moe'), { experts });
  });

  describeShared('GGUF files', (shared) =>
    it('has the figures of the loaded model', async () => {
      const files = ['llama.Q8_0', 'llama.Q4_0', 'llama_k.Q4_K_M'].map((name) => `gguf_quant/${name}.gguf`);
      for (const file of [...files, 'llama3/model.f32.gguf', 'lfm2_moe/model.f32.gguf'])
        await expectSame(join(shared, 'golden', file));
    }),
  );

  it('reads no weight and takes no memory for them', () => {
    const dir = join(scratchDir(), 'sparse');
    const config = {
      ...tinyConfig,
      ...{ vocab_size: 32000, hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 16 },
      ...{ num_attention_heads: 32, num_key_value_heads: 8, head_dim: 128 },
    };
    writeSparseModel(dir, config);
    const before = process.memoryUsage().rss;
    const plan = addon.planTraining(dir, { rank: 16, precision: 'auto' });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
    expect(plan.weights).toBeGreaterThan(5e9);
    expect(plan.bytes).toBe(plan.weights + plan.adapter + plan.memory.total);
  });

  it('refuses what loading would find in the tables', async () => {
    const dir = scratchDir();
    await tinyModel().save(join(dir, 'model'));
    const path = join(dir, 'model');
    writeFileSync(join(path, 'config.json'), JSON.stringify({ ...tinyConfig, num_hidden_layers: 1 }));
    expect(await codeOf(() => addon.planTraining(path, { rank: 4 }))).toBe('MODEL_CORRUPT');
    expect(await codeOf(() => addon.planTraining(join(dir, 'none'), { rank: 4 }))).toBe('MODEL_NOT_FOUND');
    writeFileSync(join(path, 'config.json'), JSON.stringify(tinyConfig));
    expect(await codeOf(() => addon.planTraining(path, { rank: 4, precision: 'int8' }))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => addon.planTraining(path, { rank: 4, precision: 'fp8' as never }))).toBe('BAD_ARGUMENT');
    expect(addon.planTraining(path, { rank: 4 }).weights).toBeGreaterThan(0);
  });
});

/** A llama folder whose weights are a hole of the file: read, they would be zeros by the gigabyte. */
function writeSparseModel(dir: string, config: typeof tinyConfig): void {
  const { hidden_size: hidden, intermediate_size: ffn, head_dim: width, vocab_size: vocab } = config;
  const [q, kv] = [config.num_attention_heads * width, config.num_key_value_heads * width];
  const shapes: Record<string, number[]> = {
    'model.embed_tokens.weight': [vocab, hidden],
    'model.norm.weight': [hidden],
  };
  for (let l = 0; l < config.num_hidden_layers; l++)
    for (const [name, shape] of [
      ['input_layernorm', [hidden]],
      ['post_attention_layernorm', [hidden]],
      ['self_attn.q_proj', [q, hidden]],
      ['self_attn.k_proj', [kv, hidden]],
      ['self_attn.v_proj', [kv, hidden]],
      ['self_attn.o_proj', [hidden, q]],
      ['mlp.gate_proj', [ffn, hidden]],
      ['mlp.up_proj', [ffn, hidden]],
      ['mlp.down_proj', [hidden, ffn]],
    ] as const)
      shapes[`model.layers.${l}.${name}.weight`] = [...shape];
  let end = 0;
  const tensors = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const begin = end;
      end += 2 * shape.reduce((product, extent) => product * extent, 1);
      return [name, { dtype: 'BF16', shape, data_offsets: [begin, end] }];
    }),
  );
  const header = Buffer.from(JSON.stringify(tensors));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  mkdirSync(dir);
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config));
  const file = openSync(join(dir, 'model.safetensors'), 'w');
  writeSync(file, Buffer.concat([length, header]));
  ftruncateSync(file, 8 + header.length + end);
  closeSync(file);
}
