/** Small models, golden files and comparisons for the tests of the native engine. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import {
  loadAddon,
  type NativeAdapter,
  type NativeModel,
  type SampleOptions,
  type TrainSample,
} from '../../native/addon.js';

export const addon = loadAddon();

/** Odd sizes on purpose: no width is a multiple of a vector, kv heads are shared, the head dimension is not hidden / heads. */
export const tinyConfig = {
  model_type: 'llama',
  vocab_size: 61,
  hidden_size: 20,
  intermediate_size: 27,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 6,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  rope_parameters: { rope_type: 'default', rope_theta: 10000 },
  tie_word_embeddings: true,
  eos_token_id: 2,
};

export const tinyModel = (
  overrides: Record<string, unknown> = {},
  options: { seed?: number; threads?: number } = {},
): NativeModel =>
  addon.initModel(
    { ...tinyConfig, ...overrides },
    { seed: options.seed ?? 7, std: 0.25, threads: options.threads ?? 2 },
  );

/** Repeatable token ids in [3, vocab). */
export function tokens(n: number, seed: number, vocab = 61): Int32Array {
  let state = seed * 2654435761 + 1;
  return Int32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 3 + (state % (vocab - 3));
  });
}

/** An adapter whose B is not zero, so that it changes the model: one large step on random weights of a loss. */
export async function trainedAdapter(model: NativeModel, seed: number, rank = 3): Promise<NativeAdapter> {
  const adapter = model.createAdapter({ rank, alpha: 2 * rank, seed });
  const trainer = model.newTrainer(adapter, {});
  const ids = tokens(24, seed, model.info.vocabSize);
  await trainer.step([{ inputIds: ids, weights: new Float32Array(24).fill(1) }], { loss: 'sft' }, 0.05);
  trainer.free();
  return adapter;
}

/** Continues `prompt` by `n` tokens, one decode call a token. */
export async function generate(
  model: NativeModel,
  adapter: NativeAdapter | null,
  prompt: Int32Array,
  n: number,
  sample: SampleOptions = { temperature: 0, seed: 0 },
): Promise<{ ids: number[]; logprobs: number[] }> {
  const sequence = model.newSequence(adapter);
  const ids: number[] = [];
  const logprobs: number[] = [];
  let next = prompt;
  while (ids.length < n) {
    const [answer] = await model.decode([{ sequence, ids: next, sample }]);
    ids.push(answer!.token);
    logprobs.push(answer!.logprob);
    next = Int32Array.of(answer!.token);
  }
  sequence.free();
  return { ids, logprobs };
}

/** A batch with model and tool tokens for the policy losses. */
export function policyRows(model: NativeModel): TrainSample[] {
  return [9, 17, 13, 30].map((n, i) => ({
    inputIds: tokens(n, 40 + i, model.info.vocabSize),
    completionMask: Uint8Array.from({ length: n }, (_, t) => (t >= 4 && t % 5 !== 0 ? 1 : 0)),
    oldLogprobs: Float32Array.from({ length: n }, (_, t) => -4 - ((t * 7 + i) % 11) / 20),
    refLogprobs: Float32Array.from({ length: n }, (_, t) => -4.1 - ((t * 3 + i) % 7) / 20),
    samplingLogprobs: Float32Array.from({ length: n }, (_, t) => -4.05 - ((t * 5 + i) % 13) / 20),
    advantage: [1.1, -0.7, 0.4, -0.9][i],
  }));
}

/** A folder that is gone after the tests of the file. */
export function scratchDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tackroom-native-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Largest absolute difference; infinite when the lengths differ or a value is not a number. */
export function maxDiff(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const d = Math.abs(a[i]! - b[i]!);
    if (Number.isNaN(d)) return Number.POSITIVE_INFINITY;
    worst = Math.max(worst, d);
  }
  return worst;
}

/** Reads a safetensors file of F32 tensors; own code, so that it also checks what the engine writes. */
export function readSafetensors(file: string): Map<string, { shape: number[]; values: Float32Array }> {
  const bytes = readFileSync(file);
  const headerBytes = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + headerBytes)) as Record<
    string,
    { shape: number[]; data_offsets: [number, number] }
  >;
  const tensors = new Map<string, { shape: number[]; values: Float32Array }>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const [begin, end] = entry.data_offsets;
    const data = bytes.subarray(8 + headerBytes + begin, 8 + headerBytes + end);
    tensors.set(name, { shape: entry.shape, values: new Float32Array(new Uint8Array(data).buffer) });
  }
  return tensors;
}

/** The `code` of the error `body` ends with. */
export async function codeOf(body: () => unknown): Promise<string> {
  try {
    await body();
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
  return 'no error';
}
