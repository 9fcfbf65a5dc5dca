/** The file that `tackroom engine step --batch` reads. An unknown key is refused: a misspelt option would train otherwise. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { TrainSample } from '../../native/addon.js';
import { LR_SCHEDULES, type LrSchedule, scheduleFault } from './learning-rate.js';

/** Files written by Python carry null where a value does not exist. */
const floats = z.array(z.number().nullable()).transform((list) => Float32Array.from(list, (x) => x ?? 0));

const Sample = z.strictObject({
  input_ids: z.array(z.int32()).min(1),
  completion_mask: z.array(z.union([z.literal(0), z.literal(1)])).optional(),
  old_logprobs: floats.optional(),
  advantage: z.number().optional(),
  ref_logprobs: floats.optional(),
  sampling_logprobs: floats.optional(),
  weights: floats.optional(),
});

const StepBatch = z.strictObject({
  samples: z.array(Sample).min(1),
  loss: z.enum(['grpo', 'bnpo', 'dr_grpo', 'dapo', 'gspo', 'cispo', 'sft']).default('dapo'),
  clip_low: z.number().default(0.2),
  clip_high: z.number().default(0.28),
  temperature: z.number().positive().default(1),
  lr: z.number().min(0),
  lr_schedule: z.enum(LR_SCHEDULES).default('constant'),
  warmup_steps: z.int().min(0).default(0),
  lr_schedule_steps: z.int().min(1).optional(),
  min_lr: z.number().min(0).default(0),
  betas: z.tuple([z.number(), z.number()]).default([0.9, 0.999]),
  eps: z.number().default(1e-8),
  weight_decay: z.number().default(0),
  max_grad_norm: z.number().default(1),
  steps: z.int().min(1).default(1),
  train: z.enum(['adapter', 'all']).default('adapter'),
  optimizer: z.enum(['adamw', 'muon']).default('adamw'),
  max_completion_length: z.int().min(1).optional(),
  beta: z.number().optional(),
  bias_corr: z.boolean().optional(),
  is_mode: z.enum(['token_truncate', 'token_mask', 'sequence_truncate', 'sequence_mask']).nullish(),
  is_max: z.number().optional(),
  delta: z.number().nullish(),
  opsm: z.number().nullish(),
});
export type StepBatch = z.infer<typeof StepBatch>;

/** Checks a batch file's JSON. Errors: BAD_ARGUMENT naming the key. */
export function parseStepBatch(value: unknown): StepBatch {
  const parsed = StepBatch.safeParse(value);
  if (!parsed.success) throw problem(parsed.error);
  const fault = scheduleFault(stepSchedule(parsed.data));
  if (fault !== null)
    throw new TackroomError('BAD_ARGUMENT', fault, 'docs/training.md has the formula of each schedule.');
  return parsed.data;
}

/** An unknown key first: it is often the reason why a known one is missing. */
function problem({ issues }: z.ZodError): TackroomError {
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown === undefined) {
    const issue = issues[0]!;
    return new TackroomError(
      'BAD_ARGUMENT',
      `The batch is wrong at ${issue.path.join('.') || 'its top'}: ${issue.message}.`,
    );
  }
  const [where, known] =
    unknown.path.length === 0 ? ['The batch', StepBatch] : [`Sample ${String(unknown.path[1])}`, Sample];
  const keys = unknown.keys.map((key) => JSON.stringify(key)).join(', ');
  return new TackroomError(
    'BAD_ARGUMENT',
    `${where} has ${unknown.keys.length === 1 ? 'an unknown key' : 'unknown keys'}: ${keys}.`,
    `Known keys: ${Object.keys(known.shape).join(', ')}.`,
  );
}

export function stepSchedule(batch: StepBatch): LrSchedule {
  return {
    shape: batch.lr_schedule,
    peak: batch.lr,
    floor: batch.min_lr,
    warmupSteps: batch.warmup_steps,
    totalSteps: batch.lr_schedule_steps ?? batch.steps,
  };
}

export function toSample(sample: StepBatch['samples'][number]): TrainSample {
  return {
    inputIds: Int32Array.from(sample.input_ids),
    completionMask: sample.completion_mask && Uint8Array.from(sample.completion_mask),
    oldLogprobs: sample.old_logprobs,
    advantage: sample.advantage,
    refLogprobs: sample.ref_logprobs,
    samplingLogprobs: sample.sampling_logprobs,
    weights: sample.weights,
  };
}
