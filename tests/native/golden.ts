/** The golden files of `../shared/golden`, as the tests read them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LossName, LossOptions, TrainSample } from '../../native/addon.js';

export const ARCHITECTURES = ['llama', 'llama3', 'qwen2', 'qwen3', 'lfm2', 'lfm2_moe', 'gemma3'] as const;
/** gemma3 has no GGUF among the golden files. */
export const GGUF_ARCHITECTURES = ['llama', 'llama3', 'qwen2', 'qwen3', 'lfm2', 'lfm2_moe'] as const;

export interface GoldenSample {
  input_ids: number[];
  completion_mask: number[];
  old_logprobs: number[];
  old_logprobs_T08: number[];
  sampling_logprobs: number[];
  ref_logprobs: number[];
  advantage_async: number;
  advantage_grpo: number;
  advantage_none: number;
}

export interface LossVariant {
  variant: LossName;
  a: 'async' | 'grpo' | 'none';
  T?: number;
  hi?: number;
  max_completion_length?: number;
  beta?: number;
  bias_corr?: boolean;
  is_mode?: LossOptions['isMode'];
  is_max?: number;
  delta?: number;
  opsm?: number;
}

export interface Golden {
  forward: {
    input_ids: number[];
    logits_positions: number[];
    base_logprobs: number[];
    base_logprobs_T08: number[];
    adapter_logprobs: number[];
  }[];
  greedy: { prompt: number[]; base: number[]; adapter: number[] };
  batch: { samples: GoldenSample[]; clip_low: number; clip_high: number };
  losses: Record<string, { config: LossVariant; loss: number; grad_norm: number; full_grads: boolean }>;
  adamw: {
    lr: number;
    betas: [number, number];
    eps: number;
    weight_decay: number;
    max_grad_norm: number;
    steps: {
      loss: number;
      grad_norm: number;
      clip_coef: number;
      kl_k3: number;
      clip_low_frac: number;
      clip_high_frac: number;
    }[];
  };
  after_step3_current_logprobs: number[][];
  adamw_unclipped?: { loss: number; grad_norm: number; weight_decay: number; lr: number };
}

export interface GoldenFull {
  samples: { input_ids: number[]; weights: number[] }[];
  loss_value: number;
  grad_norm: number;
  adamw: { lr: number; betas: [number, number]; weight_decay: number; steps: { loss: number; grad_norm: number }[] };
  after_step3_logprobs: number[][];
}

export const readJson = <T>(...path: string[]): T => JSON.parse(readFileSync(join(...path), 'utf8')) as T;

/** The batch of a golden model for one loss variant. */
export function samplesFor(golden: Golden, config: LossVariant): TrainSample[] {
  const needsSampler = config.is_mode !== undefined || config.opsm !== undefined;
  return golden.batch.samples.map((s) => ({
    inputIds: Int32Array.from(s.input_ids),
    completionMask: Uint8Array.from(s.completion_mask),
    oldLogprobs: Float32Array.from(config.T === undefined ? s.old_logprobs : s.old_logprobs_T08),
    advantage: s[`advantage_${config.a}`],
    refLogprobs: Float32Array.from(s.ref_logprobs),
    samplingLogprobs: needsSampler ? Float32Array.from(s.sampling_logprobs) : undefined,
  }));
}

export const lossFor = (golden: Golden, config: LossVariant): LossOptions => ({
  loss: config.variant,
  clipLow: golden.batch.clip_low,
  clipHigh: config.hi ?? golden.batch.clip_high,
  temperature: config.T,
  maxCompletionLength: config.max_completion_length,
  beta: config.beta,
  biasCorr: config.bias_corr,
  isMode: config.is_mode,
  isMax: config.is_max,
  delta: config.delta,
  opsm: config.opsm,
});

/** Share of the tolerance `5e-5 + 1e-4 |want|` of gradients that the worst element uses. */
export function worstShare(got: Float32Array, want: Float32Array): number {
  if (got.length !== want.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (let i = 0; i < want.length; i++) {
    const share = Math.abs(got[i]! - want[i]!) / (5e-5 + 1e-4 * Math.abs(want[i]!));
    if (Number.isNaN(share)) return Number.POSITIVE_INFINITY;
    worst = Math.max(worst, share);
  }
  return worst;
}
