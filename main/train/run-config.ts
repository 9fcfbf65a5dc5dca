/** A run as a YAML file. Defaults are the demo's (docs/demo.md tells how they were found). */
import { z } from 'zod';
import { LR_SCHEDULES, type LrSchedule, scheduleFault } from '../engine/learning-rate.js';

const Fields = z.strictObject({
  name: z.string().min(1).default('run'),
  harness: z.enum(['pi']).default('pi'),
  seed: z.number().int().nonnegative().default(0),
  steps: z.number().int().min(1).default(40),
  tasksPerStep: z.number().int().min(1).default(10),
  groupSize: z.number().int().min(2).default(8),
  temperature: z.number().positive().default(0.8),
  maxTokens: z.number().int().min(1).default(160),
  maxCalls: z.number().int().min(1).default(15),
  maxPromptTokens: z.number().int().min(16).default(1200),
  rolloutDeadlineMs: z.number().int().min(1000).default(60_000),
  loss: z.enum(['grpo', 'bnpo', 'dr_grpo', 'dapo', 'gspo', 'cispo']).default('dapo'),
  clipLow: z.number().default(0.2),
  clipHigh: z.number().default(0.28),
  rank: z.number().int().min(1).default(16),
  alpha: z.number().positive().default(32),
  /** What the experts of a mixture get: nothing, one pair a layer, or a pair each. */
  experts: z.enum(['none', 'shared', 'each']).default('none'),
  lr: z.number().positive().default(1.5e-3),
  warmupSteps: z.number().int().nonnegative().default(4),
  lrSchedule: z.enum(LR_SCHEDULES).default('constant'),
  /** Length of the schedule; default: that of the run. */
  lrScheduleSteps: z.number().int().min(1).optional(),
  minLr: z.number().nonnegative().default(0),
  betas: z.tuple([z.number(), z.number()]).default([0.9, 0.95]),
  weightDecay: z.number().nonnegative().default(0),
  maxGradNorm: z.number().positive().default(1),
  checkpointEvery: z.number().int().min(1).default(8),
  validationSamples: z.number().int().min(1).default(1),
  /** Folders of Harbor tasks; validation is never trained on. */
  tasks: z.string().optional(),
  validation: z.string().optional(),
});
export type RunConfig = z.infer<typeof Fields>;

export function runSchedule(config: RunConfig): LrSchedule {
  return {
    shape: config.lrSchedule,
    peak: config.lr,
    floor: config.minLr,
    warmupSteps: config.warmupSteps,
    totalSteps: config.lrScheduleSteps ?? config.steps,
  };
}

export const RunConfig = Fields.superRefine((config, context) => {
  const fault = scheduleFault(runSchedule(config));
  if (fault !== null) context.addIssue({ code: 'custom', path: ['lrSchedule'], message: fault });
});
