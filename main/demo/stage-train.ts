/** Trains the adapter: GRPO inside the unmodified pi, every checkpoint evaluated, the best one registered. */

import { registerAdapter } from '../adapters/registry.js';
import { formatDuration } from '../cli/progress.js';
import { RolloutPool } from '../rollout/pool.js';
import { createRun, executeRun } from '../train/run.js';
import type { DemoContext } from './context.js';
import { keptTasks } from './data-tasks.js';

export interface TrainResult extends Record<string, unknown> {
  runId: string;
  adapterId: string;
  adapterHash: string;
  step: number;
  validationPass1: number;
}

export const runIdOf = (seed: number): string => `run-demo-${seed}`;

export async function trainStage(context: DemoContext): Promise<TrainResult> {
  const { app, plan, seed, driver, pi, signal, progress } = context;
  const { services, bus, stoppers } = app;
  const runId = runIdOf(seed);
  if (!services.store.run.get(runId)) {
    const run = createRun(services, runId, plan.run);
    bus.publish('record.changed', { kind: 'run', id: run.id });
  } else context.say('  going on from the last checkpoint');
  const pool = await RolloutPool.create({
    workers: plan.workers,
    gateway: services.gatewayClient,
    driver,
    pi,
    paths: services.paths,
  });
  const stop = new AbortController();
  stoppers.set(runId, () => stop.abort());
  const both = AbortSignal.any([signal, stop.signal]);
  const watch = setInterval(() => {
    const run = services.store.run.get(runId);
    if (run?.waitingFor)
      progress.status(
        `waiting for ${run.waitingFor}${run.etaMs === null ? '' : `; about ${formatDuration(run.etaMs)} left`}`,
      );
  }, 500);
  try {
    const outcome = await executeRun({
      services,
      pool,
      bus,
      runId,
      trainTasks: keptTasks(services.store, 'train', seed),
      validationTasks: keptTasks(services.store, 'validation', seed),
      signal: both,
      onProgress: (text) => context.say(`  ${text}`),
    });
    const evaluation = outcome.evaluations.find((e) => e.checkpointId === outcome.best.id)!;
    const adapter = await registerAdapter(services, {
      dir: outcome.best.dir,
      name: `demo-${seed}-step-${outcome.best.step}`,
      baseModel: 'demo-model',
      runId,
      checkpointId: outcome.best.id,
      pass1: evaluation.pass1,
    });
    bus.publish('record.changed', { kind: 'adapter', id: adapter.id });
    context.say(`  best on validation: step ${outcome.best.step}, pass@1 ${evaluation.pass1.toFixed(3)}`);
    return {
      runId,
      adapterId: adapter.id,
      adapterHash: adapter.hash,
      step: outcome.best.step,
      validationPass1: evaluation.pass1,
    };
  } finally {
    clearInterval(watch);
    stoppers.delete(runId);
    await pool.close();
  }
}
