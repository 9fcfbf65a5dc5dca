/**
 * Types of the native addon (`build/native/engine.node`) and its loader.
 *
 * The addon knows tokens, tensors and bytes. Every asynchronous method runs on a native thread, one at a time per
 * model; errors are thrown as `Error` with a `code` (see `NativeErrorCode`) and one plain sentence.
 */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type NativeErrorCode =
  | 'MODEL_NOT_FOUND'
  | 'MODEL_UNSUPPORTED'
  | 'MODEL_CORRUPT'
  | 'ADAPTER_CORRUPT'
  | 'ADAPTER_MISMATCH'
  | 'CONTEXT_FULL'
  | 'BAD_ARGUMENT'
  | 'OUT_OF_MEMORY'
  | 'IO';

export interface CpuFeatures {
  brand: string;
  avx2: boolean;
  avx512: boolean;
  avx512bf16: boolean;
  amx: boolean;
  /** Kernel set in use: baseline, avx2 or avx512. */
  kernels: string;
  threads: number;
}

export interface ModelInfo {
  architecture: string;
  parameters: number;
  vocabSize: number;
  hiddenSize: number;
  layers: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  contextLength: number;
  tied: boolean;
  bytes: number;
}

/** How the next token is drawn. `temperature` 0 is greedy. `seed` + the sequence position fix the draw. */
export interface SampleOptions {
  temperature: number;
  topP?: number;
  topK?: number;
  minP?: number;
  repetitionPenalty?: number;
  /** Unsigned 53-bit integer. Same seed, same position, same logits: same token. */
  seed: number;
}

export interface DecodeItem {
  sequence: NativeSequence;
  /** Tokens to append to the sequence before sampling: the prompt (prefill) or the last sampled token. [n] */
  ids: Int32Array;
  /** Absent: only fill the cache. */
  sample?: SampleOptions;
}

export interface Sampled {
  /** -1 where the item asked for no sample. */
  token: number;
  /** log p(token) under softmax(logits / temperature), before top-p/top-k/min-p; temperature 0: softmax(logits). */
  logprob: number;
}

export interface NativeSequence {
  /** Tokens held in the KV cache. */
  readonly length: number;
  /** Drops everything after the first `n` tokens. */
  truncate(n: number): void;
  /** Independent copy of the first `n` tokens (default: all). */
  clone(n?: number): NativeSequence;
  free(): void;
}

export interface NativeAdapter {
  readonly rank: number;
  readonly alpha: number;
  /** sha256 over names, shapes and bytes of the tensors and the scale: the adapter's version. */
  hash(): string;
  clone(): NativeAdapter;
  /** Writes a PEFT folder (adapter_config.json + adapter_model.safetensors) atomically. */
  save(dir: string, baseModelName: string): Promise<void>;
}

export type LossName = 'grpo' | 'bnpo' | 'dr_grpo' | 'dapo' | 'gspo' | 'cispo' | 'sft';

/** One training row; arrays are aligned with `inputIds`, index 0 never carries loss. */
export interface TrainSample {
  inputIds: Int32Array;
  /** 1 = sampled by the policy and trained on. Not used by sft. */
  completionMask?: Uint8Array;
  oldLogprobs?: Float32Array;
  advantage?: number;
  refLogprobs?: Float32Array;
  samplingLogprobs?: Float32Array;
  /** sft only: weight of the cross-entropy of each token; loss = sum(w * ce) / sum(w). */
  weights?: Float32Array;
}

/** Names and meaning as in `engine step` (docs/cli.md); defaults: loss dapo, clip .2/.28, temperature 1. */
export interface LossOptions {
  loss: LossName;
  clipLow?: number;
  clipHigh?: number;
  temperature?: number;
  maxCompletionLength?: number;
  beta?: number;
  biasCorr?: boolean;
  isMode?: 'token_truncate' | 'token_mask' | 'sequence_truncate' | 'sequence_mask';
  isMax?: number;
  delta?: number;
  opsm?: number;
}

export interface OptimizerOptions {
  /** adamw everywhere, or muon for matrices (not embeddings, norms, biases) with adamw for the rest. */
  optimizer?: 'adamw' | 'muon';
  betas?: [number, number];
  eps?: number;
  weightDecay?: number;
  maxGradNorm?: number;
}

export interface StepMetrics {
  loss: number;
  gradNorm: number;
  clipLowFrac: number;
  clipHighFrac: number;
  /** mean(rho - 1 - log rho) over trained tokens. */
  kl: number;
  /** mean entropy of softmax(logits/T) over trained tokens, nats. */
  entropy: number;
  trainedTokens: number;
  forwardedTokens: number;
  seconds: number;
}

export interface NativeTrainer {
  readonly steps: number;
  /** Forward + backward + one optimizer update over all samples (micro-batched inside, one update). */
  step(samples: TrainSample[], loss: LossOptions, lr: number): Promise<StepMetrics>;
  /** Forward + backward only; gradients by tensor name (PEFT names, or names of the model file). For tests. */
  gradients(
    samples: TrainSample[],
    loss: LossOptions,
  ): Promise<{ loss: number; gradNorm: number; tensors: Record<string, Float32Array> }>;
  /** Optimizer moments + step count + weights under training, one file, atomically. */
  saveState(file: string): Promise<void>;
  loadState(file: string): Promise<void>;
  free(): void;
}

export interface NativeModel {
  readonly info: ModelInfo;
  newSequence(adapter?: NativeAdapter | null): NativeSequence;
  /** One forward over all items together (continuous batching; items may have different adapters). */
  decode(items: DecodeItem[]): Promise<Sampled[]>;
  /** Entry t = log p(ids[t] | ids before t) at `temperature`, entry 0 = 0. */
  logprobs(sequences: Int32Array[], adapter?: NativeAdapter | null, temperature?: number): Promise<Float32Array[]>;
  /** Raw logits of every position, [n, vocab] row-major. For tests. */
  logits(ids: Int32Array, adapter?: NativeAdapter | null): Promise<Float32Array>;
  /** A: kaiming uniform(a = sqrt 5) from `seed`, B = 0, on every linear layer but the head. */
  createAdapter(options: { rank: number; alpha: number; seed: number }): NativeAdapter;
  loadAdapter(dir: string): Promise<NativeAdapter>;
  /** Trains `adapter` in place; null trains every weight of the model. */
  newTrainer(adapter: NativeAdapter | null, options?: OptimizerOptions): NativeTrainer;
  /** Writes a Hugging Face folder (config.json + model.safetensors), atomically. dtype of the file. */
  save(dir: string, dtype?: 'F32' | 'BF16'): Promise<void>;
  free(): void;
}

export interface NativeAddon {
  cpuFeatures(): CpuFeatures;
  /** `threads` 0 = number of cores. */
  loadModel(dir: string, options?: { threads?: number }): Promise<NativeModel>;
  /** Random weights, for pre-training: normal(0, std), projections into the residual divided by sqrt(2*layers), norms 1. */
  initModel(config: Record<string, unknown>, options: { seed: number; std: number; threads?: number }): NativeModel;
}

/** Folder that holds package.json, in a checkout, in `dist/` and in the packaged app alike. */
export function packageRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) {
    const up = dirname(dir);
    if (up === dir) throw new Error('package.json not found above the native loader');
    dir = up;
  }
  return dir;
}

/** Loads the addon. Only the engine process and the recipe scripts call this. */
export function loadAddon(): NativeAddon {
  const root = packageRoot().replace(/app\.asar$/, 'app.asar.unpacked');
  const file = join(root, 'build', 'native', 'engine.node');
  if (!existsSync(file))
    throw Object.assign(new Error(`The native engine is not built (${file}). Run: npm run setup`), {
      code: 'ADDON_MISSING',
    });
  return createRequire(import.meta.url)(file) as NativeAddon;
}
