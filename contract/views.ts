/** What the window shows that is not a record by itself: sums, joins and states. */
import { z } from 'zod';
import { Adapter, Checkpoint, Deployment, Evaluation, Harness, Run, Session, Step } from './records.js';

const count = z.number().int().nonnegative();

export const LoopCounts = z.object({
  /** Sessions of the user, imported and demo sessions; rollouts are counted apart. */
  recorded: z.object({ sessions: count, rollouts: count, toolCalls: count, blocked: count, lastDay: count }),
  /** Sessions in which something was replaced, and how many values. */
  clean: z.object({ sessions: count, replaced: count }),
  tasks: z.object({ kept: count, dropped: count, train: count, validation: count, test: count }),
  runs: z.object({ total: count, running: count, failed: count }),
  adapters: z.object({ total: count, bestPass1: z.number().nullable() }),
});
export type LoopCounts = z.infer<typeof LoopCounts>;

/** Adapters that the engine's panel names. */
export const MAX_ADAPTER_USE = 8;
export const EngineView = z.object({
  state: z.enum(['up', 'training', 'down']),
  /** Why it is down. */
  reason: z.string().nullable(),
  model: z
    .object({
      id: z.string(),
      architecture: z.string(),
      parameters: z.number(),
      contextLength: count,
      /** Of the weights in memory. */
      bytes: z.number(),
      /** Most common type of the file's matrices. */
      quantisation: z.string(),
      /** Numeric form of the products, for answers and for training. */
      precision: z.string(),
      trainingPrecision: z.string(),
      /** Where these differ: how far the log-probabilities of the same tokens do; null until measured. */
      precisionGap: z.object({ mean: z.number(), max: z.number() }).nullable(),
    })
    .nullable(),
  running: count,
  decoding: count,
  /** In their prompt. */
  prefilling: count,
  queued: count,
  /** What those in the queue wait for, and how long the oldest does; null when none do. */
  waitsFor: z.object({ what: z.enum(['place', 'memory']), oldestMs: z.number() }).nullable(),
  /** Of sampling, and of reading prompts. */
  tokensPerSecond: z.number(),
  prefillTokensPerSecond: z.number(),
  /** Memory of contexts: of running requests, held for later ones, and the limit of both. */
  kv: z.object({ limitBytes: z.number(), runningBytes: z.number(), cacheBytes: z.number() }),
  kernels: z.string(),
  threads: count,
  rssBytes: z.number(),
  adapters: count,
  /** Those in memory, the busiest first; a dropped one goes with its last request. */
  adapterUse: z.array(z.object({ hash: z.string(), running: count, dropped: z.boolean() })).max(MAX_ADAPTER_USE),
});
export type EngineView = z.infer<typeof EngineView>;

export const GatewayView = z.object({
  state: z.enum(['up', 'down']),
  reason: z.string().nullable(),
  port: z.number().int().nullable(),
  requests: count,
  workers: count,
});
export type GatewayView = z.infer<typeof GatewayView>;

export const DeploymentView = z.object({
  harness: Harness,
  deployment: Deployment,
  /** null: the base model. */
  adapterName: z.string().nullable(),
  pass1: z.number().nullable(),
});
export type DeploymentView = z.infer<typeof DeploymentView>;

export const MAX_JOB_REWARDS = 120;
export const HomeState = z.object({
  counts: LoopCounts,
  job: Run.nullable(),
  /** Reward of the job's last steps, oldest first. */
  jobRewards: z.array(z.number()).max(MAX_JOB_REWARDS),
  engine: EngineView,
  gateway: GatewayView,
  deployments: z.array(DeploymentView).max(16),
  recent: z.array(Session).max(8),
});
export type HomeState = z.infer<typeof HomeState>;

export const RunSummary = z.object({
  run: Run,
  basePass1: z.number().nullable(),
  bestPass1: z.number().nullable(),
  checkpoints: count,
});
export type RunSummary = z.infer<typeof RunSummary>;

export const RunDetail = z.object({
  run: Run,
  steps: z.array(Step).max(20_000),
  evaluations: z.array(Evaluation).max(2_000),
  checkpoints: z.array(Checkpoint).max(2_000),
  rollouts: z.object({ total: count, unscored: count, blocked: count }),
});
export type RunDetail = z.infer<typeof RunDetail>;

export const AdapterView = z.object({
  adapter: Adapter,
  runName: z.string().nullable(),
  step: count.nullable(),
  servedTo: z.array(Harness),
});
export type AdapterView = z.infer<typeof AdapterView>;
