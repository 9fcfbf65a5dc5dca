/** What a run will take, said before it starts: rollouts, time and memory. Reads the model's header, loads nothing. */
import { cpus } from 'node:os';
import { loadAddon, type TrainPlan } from '../../native/addon.js';
import { defaultKvBytes } from '../engine/limits.js';
import { inspectModel } from '../models/inspect.js';
import { freeMemory } from '../models/memory.js';
import type { RunConfig } from './run-config.js';

/** CPU seconds of a rollout of the demo model in pi, verifier included. */
const SECONDS_PER_ROLLOUT = 0.25;
/** Resident bytes, measured with the demo model: our processes without the model and its contexts; one pi. */
const PROCESS_BYTES = 650 * 2 ** 20;
const WORKER_BYTES = 230 * 2 ** 20;

export interface RunPlan {
  rollouts: number;
  /** null: rollouts of this model were never timed. */
  seconds: number | null;
  /** Of the model, its adapter and the largest micro-batch of a step. */
  training: TrainPlan;
  /** The most that the contexts of rollouts may take. */
  contextBytes: number;
  /** All of it, with `workers` rollouts at a time. */
  memoryBytes: number;
  fits: boolean;
}

/** Throws what loading the model would find in its files' tables, and BAD_ARGUMENT for an adapter it cannot have. */
export function planRun(
  config: RunConfig,
  options: { model: string; timed: boolean; validationTasks: number; workers: number },
): RunPlan {
  const { contextLength, memory } = inspectModel(options.model);
  const evaluations = Math.ceil(config.steps / config.checkpointEvery) + 1;
  const perStep = config.tasksPerStep * config.groupSize;
  const rollouts = config.steps * perStep + evaluations * options.validationTasks * config.validationSamples;
  const longest = Math.min(contextLength, config.maxPromptTokens + config.maxTokens);
  const { rank, experts } = config;
  const training = loadAddon().planTraining(options.model, { rank, experts, tokens: perStep * longest, longest });
  const contextBytes = defaultKvBytes({ contextLength, kvBytesPerToken: memory.kvBytesPerToken }, freeMemory());
  const memoryBytes = PROCESS_BYTES + training.bytes + contextBytes + options.workers * WORKER_BYTES;
  return {
    rollouts,
    seconds: options.timed ? (rollouts * SECONDS_PER_ROLLOUT) / Math.max(1, cpus().length) : null,
    training,
    contextBytes,
    memoryBytes,
    fits: memoryBytes <= freeMemory(),
  };
}
