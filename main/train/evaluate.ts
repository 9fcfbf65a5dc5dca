/**
 * Runs a policy on tasks and sums up. Every rollout is recorded under an id made of run, phase, task and sample, so an
 * evaluation that was cut off goes on with what is missing.
 */
import { TackroomError } from '../../contract/errors.js';
import type { Evaluation, Rollout, Split, Task } from '../../contract/records.js';
import type { RolloutPool } from '../rollout/pool.js';
import type { RolloutJob, RolloutResult } from '../rollout/protocol.js';
import { type Services, sameEngine } from '../services/services.js';
import type { RunConfig } from './run-config.js';
import { seedFrom } from './seeds.js';
import { mean, wilson } from './statistics.js';

export interface RolloutContext {
  runId: string;
  phase: string;
  step: number;
  split: Split;
  config: RunConfig;
  adapter: string | null;
  temperature: number;
}

export function rolloutId(context: Pick<RolloutContext, 'runId' | 'phase'>, taskId: string, sample: number): string {
  return `${context.runId}/${context.phase}/${taskId}/${sample}`;
}

export function rolloutJob(context: RolloutContext, task: Task, sample: number): RolloutJob {
  const { config } = context;
  return {
    id: rolloutId(context, task.id, sample),
    taskDir: task.dir,
    taskId: task.id,
    group: `${context.runId}/${context.phase}/${task.id}`,
    split: context.split,
    adapter: context.adapter,
    sampling: {
      temperature: context.temperature,
      maxTokens: config.maxTokens,
      // Not from the phase: base and adapter draw with the same random numbers, which narrows the paired difference.
      seed: seedFrom(config.seed, context.split === 'train' ? context.phase : context.split, task.id, sample),
    },
    maxCalls: config.maxCalls,
    maxPromptTokens: config.maxPromptTokens,
    deadlineMs: config.rolloutDeadlineMs,
    profile: 'training',
  };
}

export function rolloutRecord(context: RolloutContext, result: RolloutResult): Rollout {
  return {
    id: result.job.id,
    version: 1,
    createdAt: Date.now(),
    runId: context.runId,
    step: context.step,
    split: context.split,
    phase: context.phase,
    taskId: result.job.taskId,
    group: result.job.group,
    adapterHash: context.adapter,
    sessionId: result.sessionId,
    reward: result.reward,
    verifier: result.verifier,
    calls: result.calls,
    blocked: result.blocked,
    promptTokens: result.promptTokens,
    completionTokens: result.completionTokens,
    seconds: result.seconds,
    finish: result.finish,
    error: result.error,
  };
}

const ATTEMPTS = 2;

export interface EvaluateOptions {
  services: Services;
  pool: RolloutPool;
  context: RolloutContext;
  tasks: Task[];
  samples: number;
  checkpointId: string | null;
  signal?: AbortSignal;
  onRollout?: (rollout: Rollout, done: number, total: number) => void;
}

/**
 * Rollouts without a score are run once more: a service that died must not speak for or against a checkpoint. Those
 * still without one are left out of the rates. Errors: those of the pool when it is cancelled.
 */
export async function evaluate(options: EvaluateOptions): Promise<{ evaluation: Evaluation; rollouts: Rollout[] }> {
  const { services, pool, context, tasks, samples } = options;
  const { store } = services;
  const started = Date.now();
  const done = new Map<string, Rollout>();
  const jobs: RolloutJob[] = [];
  for (const task of tasks)
    for (let i = 0; i < samples; i++) {
      const known = store.rollout.get(rolloutId(context, task.id, i));
      if (known && known.verifier !== null && known.adapterHash === context.adapter) done.set(known.id, known);
      else jobs.push(rolloutJob(context, task, i));
    }
  const total = tasks.length * samples;
  const unscored = (): RolloutJob[] => jobs.filter((job) => (done.get(job.id)?.verifier ?? null) === null);
  await sameEngine(services, async () => {
    for (let attempt = 1; attempt <= ATTEMPTS && unscored().length > 0; attempt++)
      await pool.run(unscored(), {
        signal: options.signal,
        onResult: (result) => {
          const record = store.rollout.put(rolloutRecord(context, result));
          done.set(record.id, record);
          options.onRollout?.(record, done.size, total);
        },
      });
  });
  if (total > 0 && ![...done.values()].some((r) => r.verifier !== null))
    throw new TackroomError(
      'SERVICE_GONE',
      `None of the ${total} rollouts of ${context.phase} could be scored: ${[...done.values()][0]?.error ?? 'no reason given'}`,
      'Run `tackroom doctor`, then start again: what was measured before is kept.',
    );
  const rollouts = [...done.values()];
  const evaluation = services.store.evaluation.put(summarize(options, rollouts, (Date.now() - started) / 1000));
  return { evaluation, rollouts };
}

function summarize(options: EvaluateOptions, rollouts: Rollout[], wallSeconds: number): Evaluation {
  const { context } = options;
  const scored = rollouts.filter((r) => r.verifier !== null);
  const solved = scored.filter((r) => r.verifier === 1);
  return {
    id: `${context.runId}/${context.phase}`,
    version: 1,
    createdAt: Date.now(),
    runId: context.runId,
    checkpointId: options.checkpointId,
    adapterHash: context.adapter,
    step: context.step,
    split: context.split,
    temperature: context.temperature,
    tasks: options.tasks.length,
    rollouts: scored.length,
    pass1: scored.length ? solved.length / scored.length : 0,
    ci95: wilson(solved.length, scored.length),
    callsPerSolved: solved.length ? mean(solved.map((r) => r.calls)) : null,
    tokens: scored.reduce((sum, r) => sum + r.completionTokens, 0),
    seconds: wallSeconds,
  };
}

/** Mean verifier score of each task over its scored samples, by task id. */
export function passByTask(rollouts: Rollout[]): Map<string, number> {
  const byTask = new Map<string, number[]>();
  for (const r of rollouts) {
    if (r.verifier === null) continue;
    const list = byTask.get(r.taskId) ?? [];
    list.push(r.verifier === 1 ? 1 : 0);
    byTask.set(r.taskId, list);
  }
  return new Map([...byTask].map(([id, list]) => [id, mean(list)]));
}
