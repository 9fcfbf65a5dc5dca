/** Sizes of the demo. `SHORT` is the loop that `npm test` runs end to end. */
import { RunConfig } from '../train/run-config.js';

export interface DemoPlan {
  /** Data questions that the real pi answers on camera at the start. */
  sessions: number;
  trainTasks: number;
  validationTasks: number;
  testTasks: number;
  /** Samples of each test task at the sampling temperature. */
  testSamples: number;
  /** Rollouts at a time. */
  workers: number;
  run: RunConfig;
}

export function demoPlan(seed: number): DemoPlan {
  return {
    sessions: 6,
    trainTasks: 160,
    validationTasks: 48,
    testTasks: 160,
    testSamples: 1,
    workers: 4,
    run: RunConfig.parse({ name: `demo, seed ${seed}`, seed }),
  };
}

export function shortPlan(seed: number): DemoPlan {
  return {
    sessions: 2,
    trainTasks: 4,
    validationTasks: 2,
    testTasks: 3,
    testSamples: 1,
    workers: 2,
    run: RunConfig.parse({
      name: `short loop, seed ${seed}`,
      seed,
      steps: 2,
      tasksPerStep: 2,
      groupSize: 4,
      checkpointEvery: 1,
    }),
  };
}

/** Free disk space a demo needs, bytes: tasks and rollouts are small, recorded sessions about 60 MB. */
export const DEMO_BYTES = 300 * 2 ** 20;
