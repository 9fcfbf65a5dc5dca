/** One GRPO step: groups of rollouts on this step's tasks, advantages, one optimizer update. */
import type { Rollout, Task } from '../../contract/records.js';
import { learningRate } from '../engine/learning-rate.js';
import type { WireSample } from '../engine/protocol.js';
import type { RolloutPool } from '../rollout/pool.js';
import type { RolloutResult } from '../rollout/protocol.js';
import { type Services, sameEngine } from '../services/services.js';
import { groupAdvantages } from './advantage.js';
import { type RolloutContext, rolloutJob, rolloutRecord } from './evaluate.js';
import { toSamples, traceRows } from './rows.js';
import { runSchedule } from './run-config.js';
import { mean } from './statistics.js';

export interface TrainStepOptions {
  services: Services;
  pool: RolloutPool;
  context: RolloutContext;
  tasks: Task[];
  signal?: AbortSignal;
  onRollout?: (rollout: Rollout, done: number, total: number) => void;
}

/** Metric names: docs/metrics.md. Returns the metrics and the hash of the new policy. */
export async function trainStep(
  options: TrainStepOptions,
): Promise<{ metrics: Record<string, number>; hash: string | null }> {
  const { services, pool, context, tasks } = options;
  const { config } = context;
  const started = performance.now();
  const jobs = tasks.flatMap((task) =>
    Array.from({ length: config.groupSize }, (_, i) => rolloutJob(context, task, i)),
  );
  const results: RolloutResult[] = [];
  await sameEngine(services, () =>
    pool.run(jobs, {
      signal: options.signal,
      onResult: (result) => {
        results.push(result);
        const record = services.store.rollout.put(rolloutRecord(context, result));
        options.onRollout?.(record, results.length, jobs.length);
      },
    }),
  );
  const rolloutSeconds = (performance.now() - started) / 1000;
  // Results arrive in any order; the update must not depend on it.
  const order = new Map(jobs.map((job, i) => [job.id, i]));
  results.sort((a, b) => order.get(a.job.id)! - order.get(b.job.id)!);
  const { samples, useful, rows } = buildSamples(results, tasks);
  const lr = learningRate(runSchedule(config), context.step);
  const update =
    samples.length > 0
      ? await services.engine(
          'train.step',
          {
            samples,
            loss: {
              loss: config.loss,
              clipLow: config.clipLow,
              clipHigh: config.clipHigh,
              temperature: config.temperature,
            },
            lr,
          },
          { timeoutMs: 300_000, signal: options.signal },
        )
      : null;
  const scored = results.filter((r) => r.verifier !== null);
  const solved = scored.filter((r) => r.verifier === 1);
  return {
    hash: update?.hash ?? null,
    metrics: {
      reward: mean(scored.map((r) => r.reward ?? 0)),
      'train/pass1': scored.length ? solved.length / scored.length : 0,
      'tools/calls_per_solved': solved.length ? mean(solved.map((r) => r.calls)) : 0,
      'tools/calls_mean': mean(results.map((r) => r.calls)),
      'guard/blocked_calls': results.reduce((sum, r) => sum + r.blocked, 0),
      'rollout/unscored': results.length - scored.length,
      'rollout/useful_fraction': results.length ? useful / results.length : 0,
      'rollout/rows': rows,
      'rollout/completion_tokens': results.reduce((sum, r) => sum + r.completionTokens, 0),
      'perf/rollout_s': rolloutSeconds,
      'perf/step_s': (performance.now() - started) / 1000,
      learning_rate: lr,
      ...(update && {
        loss: update.loss,
        grad_norm: update.gradNorm,
        kl: update.kl,
        entropy: update.entropy,
        'clip_ratio/low_mean': update.clipLowFrac,
        'clip_ratio/high_mean': update.clipHighFrac,
        'sample/trained_tokens': update.trainedTokens,
        'sample/forwarded_tokens': update.forwardedTokens,
        'perf/update_s': update.seconds,
      }),
    },
  };
}

function buildSamples(
  results: RolloutResult[],
  tasks: Task[],
): { samples: WireSample[]; useful: number; rows: number } {
  const samples: WireSample[] = [];
  let useful = 0;
  for (const task of tasks) {
    const group = results.filter((r) => r.job.taskId === task.id);
    const advantages = groupAdvantages(group.map((r) => r.reward));
    group.forEach((result, i) => {
      const advantage = advantages[i];
      if (advantage === null || advantage === undefined) return;
      useful++;
      samples.push(...toSamples(traceRows(result.trace), advantage));
    });
  }
  return { samples, useful, rows: samples.length };
}
