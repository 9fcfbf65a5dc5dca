/** Swaps the best adapter behind pi and measures base against adapter on tasks used for nothing else. */

import type { Task } from '../../contract/records.js';
import { swapAdapter } from '../adapters/registry.js';
import { RolloutPool } from '../rollout/pool.js';
import { throughRestarts } from '../services/services.js';
import { evaluate } from '../train/evaluate.js';
import type { DemoContext } from './context.js';
import { keptTasks } from './data-tasks.js';
import type { EvaluationPair } from './report.js';
import type { TrainResult } from './stage-train.js';

export interface SwapResult extends Record<string, unknown> {
  deploymentId: string;
}

export async function swapStage(context: DemoContext): Promise<SwapResult> {
  const { services, bus } = context.app;
  const { adapterId, adapterHash } = context.state.done.train as TrainResult;
  const deployment = await swapAdapter(services.store, () => services.gateway('routes.reload', {}), 'pi', adapterId);
  bus.publish('record.changed', { kind: 'deployment', id: deployment.id });
  context.say(`  pi is now served by ${adapterHash.slice(0, 12)}; the model id it sees stays the same`);
  return { deploymentId: deployment.id };
}

export interface TestOutcome {
  tasks: Task[];
  base: EvaluationPair;
  adapter: EvaluationPair;
}

export async function runTests(context: DemoContext): Promise<TestOutcome> {
  const { app, plan, seed, driver, pi, signal, progress } = context;
  const { services } = app;
  const { adapterHash, runId, step } = context.state.done.train as TrainResult;
  const tasks = keptTasks(services.store, 'test', seed);
  const pool = await RolloutPool.create({
    workers: plan.workers,
    gateway: services.gatewayClient,
    driver,
    pi,
    paths: services.paths,
  });
  try {
    const one = async (who: 'base' | 'adapter', greedy: boolean): Promise<EvaluationPair['sampled']> => {
      const phase = `test-${who}-${greedy ? 'greedy' : 'sampled'}`;
      const measure = (): ReturnType<typeof evaluate> =>
        evaluate({
          services,
          pool,
          tasks,
          samples: greedy ? 1 : plan.testSamples,
          checkpointId: who === 'base' ? null : services.store.run.get(runId)!.bestCheckpointId,
          signal,
          context: {
            runId,
            phase,
            step: who === 'base' ? 0 : step,
            split: 'test',
            config: plan.run,
            adapter: who === 'base' ? null : adapterHash,
            temperature: greedy ? 0 : plan.run.temperature,
          },
          onRollout: (_, done, total) =>
            progress.status(`test, ${who} ${greedy ? 'greedy' : 'sampled'}: ${done} of ${total} rollouts`),
        });
      // What was scored before a service died is not done again.
      const result = await throughRestarts(measure);
      app.bus.publish('run.evaluation', { runId, evaluation: result.evaluation });
      context.say(
        `  ${who} ${greedy ? 'greedy ' : 'sampled'}  pass@1 ${result.evaluation.pass1.toFixed(3)}  ${result.evaluation.seconds.toFixed(0)} s`,
      );
      return result;
    };
    const base = { sampled: await one('base', false), greedy: await one('base', true) };
    const adapter = { sampled: await one('adapter', false), greedy: await one('adapter', true) };
    return { tasks, base, adapter };
  } finally {
    await pool.close();
  }
}
