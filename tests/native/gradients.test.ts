/** Gradients against finite differences: they need no reference engine and cover what the golden models do not. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { LossOptions, NativeModel, NativeTrainer, TrainSample } from '../../native/addon.js';
import {
  addon,
  maxDiff,
  policyRows,
  readSafetensors,
  scratchDir,
  tinyModel,
  tokens,
  trainedAdapter,
} from './support.js';

const scratch = scratchDir();
const STEP = 2e-3;

/** Writes `delta` onto one element of a tensor in a safetensors file. */
function nudge(file: string, name: string, index: number, delta: number): void {
  const bytes = readFileSync(file);
  const headerBytes = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + headerBytes)) as Record<
    string,
    { data_offsets: [number, number] }
  >;
  const at = 8 + headerBytes + header[name]!.data_offsets[0] + 4 * index;
  bytes.writeFloatLE(bytes.readFloatLE(at) + delta, at);
  writeFileSync(file, bytes);
}

/** Central differences of the loss for a few elements of every tensor; `lossAt` loads what `file` holds now. */
async function compare(
  file: string,
  gradients: Record<string, Float32Array>,
  lossAt: () => Promise<number>,
): Promise<void> {
  const scale = Math.max(...Object.values(gradients).map((g) => Math.max(...g.map(Math.abs))));
  for (const name of readSafetensors(file).keys()) {
    const gradient = gradients[name]!;
    if (name.endsWith('expert_bias')) {
      // It only selects, in jumps, and is never trained.
      expect(Math.max(...gradient.map(Math.abs))).toBe(0);
      continue;
    }
    // The largest element says most; a fixed one keeps zeros honest.
    const largest = gradient.reduce((best, x, i) => (Math.abs(x) > Math.abs(gradient[best]!) ? i : best), 0);
    for (const index of [largest, 1]) {
      nudge(file, name, index, STEP);
      const up = await lossAt();
      nudge(file, name, index, -2 * STEP);
      const down = await lossAt();
      nudge(file, name, index, STEP);
      const numeric = (up - down) / (2 * STEP);
      expect(Math.abs(numeric - gradient[index]!), `${name}[${index}] ${numeric} ${gradient[index]}`).toBeLessThan(
        0.02 * Math.abs(gradient[index]!) + 2e-3 * scale,
      );
    }
  }
}

const sftRows = (model: NativeModel): TrainSample[] =>
  [14, 23].map((n, i) => ({
    inputIds: tokens(n, i, model.info.vocabSize),
    weights: Float32Array.from({ length: n }, (_, t) => (t % 3) / 2),
  }));

const lossOf = async (trainer: NativeTrainer, rows: TrainSample[], loss: LossOptions) =>
  (await trainer.gradients(rows, loss)).loss;

const SHAPES: [string, Record<string, unknown>][] = [
  ['llama, tied', {}],
  ['llama, all biases, untied', { attention_bias: true, mlp_bias: true, tie_word_embeddings: false }],
  ['qwen2', { model_type: 'qwen2' }],
  ['qwen3', { model_type: 'qwen3' }],
  [
    'gemma3',
    {
      model_type: 'gemma3_text',
      hidden_activation: 'gelu_pytorch_tanh',
      sliding_window: 7,
      layer_types: ['sliding_attention'],
    },
  ],
  ['lfm2', { model_type: 'lfm2', layer_types: ['conv'], block_auto_adjust_ff_dim: false }],
  [
    'lfm2_moe',
    {
      model_type: 'lfm2_moe',
      layer_types: ['conv'],
      num_dense_layers: 0,
      // All of them: which are chosen changes in jumps, where a finite difference means nothing.
      num_experts: 3,
      num_experts_per_tok: 3,
      moe_intermediate_size: 9,
    },
  ],
];

for (const [name, overrides] of SHAPES)
  it(`every weight: ${name}`, async () => {
    const dir = join(scratch, name);
    const model = tinyModel({ ...overrides, num_hidden_layers: 1 });
    await model.save(dir);
    const { tensors } = await model.newTrainer(null).gradients(sftRows(model), { loss: 'sft' });
    await compare(join(dir, 'model.safetensors'), tensors, async () => {
      const changed = await addon.loadModel(dir, { threads: 1 });
      const loss = await lossOf(changed.newTrainer(null), sftRows(changed), { loss: 'sft' });
      changed.free();
      return loss;
    });
  });

// Clipping is made wide: at its edges the loss has a kink, where a finite difference means nothing.
const WIDE = { clipLow: 0.9, clipHigh: 9 };
const LOSSES: LossOptions[] = [
  { loss: 'grpo', ...WIDE },
  { loss: 'bnpo', ...WIDE, beta: 0.1 },
  { loss: 'dr_grpo', ...WIDE, maxCompletionLength: 40 },
  { loss: 'dapo', ...WIDE, temperature: 0.7, isMode: 'sequence_truncate', isMax: 1.1 },
  { loss: 'gspo', ...WIDE, beta: 0.2, biasCorr: true },
];

for (const loss of LOSSES)
  it(`adapter: ${loss.loss}`, async () => {
    const dir = join(scratch, `adapter-${loss.loss}`);
    const model = tinyModel({ num_hidden_layers: 1 });
    const adapter = await trainedAdapter(model, 5);
    await adapter.save(dir, 'tiny');
    // Old log-probabilities near the current ones, so that no ratio reaches a clip boundary.
    const current = await model.logprobs(
      policyRows(model).map((r) => r.inputIds),
      adapter,
      loss.temperature,
    );
    const rows = policyRows(model).map((row, i) => ({
      ...row,
      oldLogprobs: current[i]!.map((x, t) => x + ((t % 5) - 2) / 40),
    }));
    for (const row of rows) row.refLogprobs = row.oldLogprobs.map((x, t) => x + ((t % 3) - 1) / 10);
    for (const row of rows) row.samplingLogprobs = row.oldLogprobs.map((x, t) => x - ((t % 4) - 1.5) / 50);
    const { tensors } = await model.newTrainer(adapter).gradients(rows, loss);
    await compare(join(dir, 'adapter_model.safetensors'), tensors, async () =>
      lossOf(model.newTrainer(await model.loadAdapter(dir)), rows, loss),
    );
  });

it('cispo: the gradient is that of the log-probability under constant weights', async () => {
  // With old = current every ratio is 1, below the cap, and cispo's gradient is that of -A log p: the same as dapo's.
  const model = tinyModel();
  const adapter = await trainedAdapter(model, 6);
  const current = await model.logprobs(
    policyRows(model).map((r) => r.inputIds),
    adapter,
  );
  const rows = policyRows(model).map((row, i) => ({ ...row, oldLogprobs: current[i]! }));
  const trainer = model.newTrainer(adapter);
  const cispo = await trainer.gradients(rows, { loss: 'cispo', clipHigh: 2 });
  const dapo = await trainer.gradients(rows, { loss: 'dapo' });
  for (const [name, values] of Object.entries(cispo.tensors))
    expect(maxDiff(values, dapo.tensors[name]!), name).toBeLessThan(1e-6);
  const capped = await trainer.gradients(rows, { loss: 'cispo', clipHigh: 0.5 });
  for (const [name, values] of Object.entries(capped.tensors))
    expect(
      maxDiff(
        values.map((x) => 2 * x),
        dapo.tensors[name]!,
      ),
      name,
    ).toBeLessThan(1e-6);
});

it('rows longer than an attention block: gradients add up over disjoint weights', async () => {
  // 200 tokens span three blocks of keys and of queries.
  const model = tinyModel();
  const trainer = model.newTrainer(null);
  const inputIds = tokens(200, 3);
  const half = (odd: boolean) => ({
    inputIds,
    weights: Float32Array.from({ length: 200 }, (_, t) => (t > 0 && (t % 2 === 1) === odd ? 1 : 0)),
  });
  const whole = await trainer.gradients([{ inputIds, weights: new Float32Array(200).fill(1) }], { loss: 'sft' });
  const odd = await trainer.gradients([half(true)], { loss: 'sft' });
  const even = await trainer.gradients([half(false)], { loss: 'sft' });
  for (const [name, values] of Object.entries(whole.tensors)) {
    const sum = odd.tensors[name]!.map((x, i) => (x * 100 + even.tensors[name]![i]! * 99) / 199);
    expect(maxDiff(values, sum), name).toBeLessThan(2e-6);
  }
});
