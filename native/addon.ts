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
  | 'NOT_FINITE'
  | 'CANCELLED'
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
  /** Bodies of the 16- and 8-bit products; bf16Body is empty where the processor has none. */
  bf16Body: string;
  int16Body: string;
  int8Body: string;
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
  /** Weights in memory. */
  bytes: number;
  /** Weights that decoding one token of one sequence reads. */
  stepBytes: number;
  /** What one token of one sequence takes in the cache. */
  kvBytesPerToken: number;
  /** Most common type of the file's matrices: F32, BF16, Q8_0, Q4_K, ... */
  quantisation: string;
  servingPrecision: PrecisionName;
  trainingPrecision: PrecisionName;
  /** 0 for dense models. */
  experts: number;
}

/** What a model folder or GGUF file holds, told from its tables: no weight is read. */
export interface ModelSummary {
  format: 'safetensors' | 'gguf';
  /** model_type of config.json: llama, qwen2, qwen3, gemma3_text, lfm2, lfm2_moe. */
  architecture: string;
  layers: number;
  hiddenSize: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  ffnSize: number;
  vocabSize: number;
  contextLength: number;
  /** 0: not a mixture of experts. */
  experts: number;
  expertsPerToken: number;
  parameters: number;
  /** Size of the weight files. */
  fileBytes: number;
  tied: boolean;
  /** By element type as stored: F32, BF16, Q4_K, ... */
  types: Record<string, { tensors: number; bytes: number }>;
}

export type PrecisionName = 'fp32' | 'bf16' | 'int16' | 'int8';

/** auto: see docs/engine.md. */
export interface LoadOptions {
  /** 0 = number of cores. */
  threads?: number;
  precision?: PrecisionName | 'auto';
  /** Every weight in fp32, so that all of them can be trained and saved. */
  trainable?: boolean;
}

/** A sequence or a score is computed in the serving precision or in that of training. */
export type ComputePath = 'serving' | 'training';

/** How the next token is drawn. `temperature` 0 is greedy. `seed` + the sequence position fix the draw. */
export interface SampleOptions {
  temperature: number;
  topP?: number;
  topK?: number;
  minP?: number;
  repetitionPenalty?: number;
  /** Unsigned 53-bit integer. Same seed, same position, same logits: same token. */
  seed: number;
  /**
   * Bit t % 32 of word t / 32: token t may be drawn. [ceil(vocab / 32)]; absent: every token. No bit set, or another
   * length: BAD_ARGUMENT. The log-probability stays that of the unmasked distribution.
   */
  allowed?: Uint32Array;
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
  /** Lets go of it; sequences and trainers that were made with it go on. Any later call throws BAD_ARGUMENT. */
  free(): void;
}

/** What the experts of a layer get: nothing, one pair for all of them, or a pair each. */
export type ExpertAdapters = 'none' | 'shared' | 'each';

export interface AdapterOptions {
  rank: number;
  alpha: number;
  seed: number;
  /** Default: none. */
  experts?: ExpertAdapters;
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

export interface TrainerOptions extends OptimizerOptions {
  /** Distinct tokens of a micro-batch; default: up to 2048, as the activations of a large model allow. */
  tokenBudget?: number;
  /** block: keep only the inputs of layers and compute a layer again in backward; less memory, the same bits. */
  checkpoint?: 'none' | 'block';
  /** Compute token prefixes that rows have in common once (default true). The result is that of the rows one by one. */
  share?: boolean;
}

/** Bytes a trainer holds beside the weights of model and adapter. */
export interface TrainMemory {
  gradients: number;
  optimizer: number;
  /** Activations kept for backward, and the residual stream between layers. */
  tape: number;
  stream: number;
  scratch: number;
  /** Logits of a chunk and what goes with them. */
  head: number;
  total: number;
}

/** What a step is planned for. */
export interface PlanOptions extends Pick<TrainerOptions, 'tokenBudget' | 'checkpoint' | 'share'> {
  /** Of the adapter; 0: every weight is trained. Default 32. */
  rank?: number;
  /** As of `createAdapter`. */
  experts?: ExpertAdapters;
  /** Distinct tokens of a step, and tokens of its longest row. */
  tokens?: number;
  longest?: number;
  /** Share of the tokens that are trained on (default 1). */
  trainedShare?: number;
}

/** Measured speeds, in 1e9 multiply-adds a second: layers without and with what grows with the length, and the head. */
export interface Calibration {
  layers: number;
  attention: number;
  head: number;
}

export interface TrainPlan {
  tokenBudget: number;
  microBatches: number;
  /** Bytes of model and adapter, and of the trainer; `bytes` is all of them. */
  weights: number;
  adapter: number;
  memory: TrainMemory;
  bytes: number;
  /** Of a step; 0 without a calibration. */
  seconds: number;
  tokensPerSecond: number;
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
  /** Tokens computed: those of a shared prefix count once. */
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
  ): Promise<{ loss: number; gradNorm: number; forwardedTokens: number; tensors: Record<string, Float32Array> }>;
  /** Optimizer moments + step count + weights under training, one file, atomically. */
  saveState(file: string): Promise<void>;
  loadState(file: string): Promise<void>;
  /** Bytes held by the last step. */
  memory(): Promise<TrainMemory>;
  /** Ends the running step and those queued before this call with CANCELLED; weights, moments and step count stay as before them. */
  cancel(): void;
  free(): void;
}

export interface NativeModel {
  readonly info: ModelInfo;
  /** `path` default serving. */
  newSequence(adapter?: NativeAdapter | null, options?: { path?: ComputePath }): NativeSequence;
  /** One forward over all items together (continuous batching; items may have different adapters and paths). */
  decode(items: DecodeItem[]): Promise<Sampled[]>;
  /** Entry t = log p(ids[t] | ids before t) at `temperature`, entry 0 = 0. `path` default training. */
  logprobs(
    sequences: Int32Array[],
    adapter?: NativeAdapter | null,
    temperature?: number,
    path?: ComputePath,
  ): Promise<Float32Array[]>;
  /** Raw logits of every position on the training path, [n, vocab] row-major. For tests. */
  logits(ids: Int32Array, adapter?: NativeAdapter | null): Promise<Float32Array>;
  /** The residual stream before each layer and after the last, [layers + 1] times [n, hidden]. For tests. */
  hiddenStates(ids: Int32Array, adapter?: NativeAdapter | null): Promise<Float32Array[]>;
  /** A: kaiming uniform(a = sqrt 5) from `seed`, B = 0, on every linear layer but the head. */
  createAdapter(options: AdapterOptions): NativeAdapter;
  /** A PEFT folder or an adapter GGUF. */
  loadAdapter(path: string): Promise<NativeAdapter>;
  /** Trains `adapter` in place; null trains every weight of the model. */
  newTrainer(adapter: NativeAdapter | null, options?: TrainerOptions): NativeTrainer;
  /** What a step will need, before a trainer is made. */
  planTraining(options: PlanOptions, speeds?: Partial<Calibration>): TrainPlan;
  /** Runs one layer of each kind and the head on some tokens and measures their speed; an adapter of `rank` (default 32). */
  calibrate(rank?: number): Promise<Calibration>;
  /** Writes a Hugging Face folder (config.json + model.safetensors + copies of `beside`), atomically. dtype of the file. */
  save(dir: string, dtype?: 'F32' | 'BF16', beside?: readonly string[]): Promise<void>;
  free(): void;
}

export interface NativeAddon {
  cpuFeatures(): CpuFeatures;
  /** A Hugging Face folder or a GGUF file. */
  loadModel(path: string, options?: LoadOptions): Promise<NativeModel>;
  /** Random weights, for pre-training: normal(0, std), projections into the residual divided by sqrt(2*layers), norms 1. */
  initModel(config: Record<string, unknown>, options: { seed: number; std: number; threads?: number }): NativeModel;
  /** Describes a Hugging Face folder or a .gguf file. */
  inspectModel(path: string): ModelSummary;
  /** Bytes a second of reading a buffer of `bytes` (at most 2^30) with all threads; takes half a second. */
  readBandwidth(bytes: number, options?: { threads?: number }): number;
  /** Throws what loadModel would throw of the files' tables: architecture, element types, names and shapes. Reads no weight. */
  checkModel(path: string): void;
  /**
   * The same plan from the files' tables alone, of a model loaded with `threads` and `precision` (rank 0: trainable). Reads no
   * weight and allocates none; throws what loading would find in the tables.
   */
  planTraining(
    path: string,
    options: PlanOptions & Pick<LoadOptions, 'threads' | 'precision'>,
    speeds?: Partial<Calibration>,
  ): TrainPlan;
  /** Blocks of a GGUF type ("Q4_K", "BF16", ...) as `count` fp32 values. For tests. */
  dequantize(type: string, blocks: Uint8Array, count: number): Float32Array;
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

/** Loads the addon. Called by the engine process, the commands that work without it (`engine …`, `train plan`) and the recipe scripts. */
export function loadAddon(): NativeAddon {
  const root = packageRoot().replace(/app\.asar$/, 'app.asar.unpacked');
  const file = join(root, 'build', 'native', 'engine.node');
  if (!existsSync(file))
    throw Object.assign(new Error(`The native engine is not built (${file}). Run: npm run setup`), {
      code: 'ADDON_MISSING',
    });
  return createRequire(import.meta.url)(file) as NativeAddon;
}
