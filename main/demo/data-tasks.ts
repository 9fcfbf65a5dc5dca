/**
 * The demo's data tasks. Training and validation draw names from the training pools with different seeds; the test set
 * draws from pools that nothing else uses, so its names, values and seeds were seen by neither training nor choosing.
 */
import { join } from 'node:path';
import type { Split, Task } from '../../contract/records.js';
import { KIND_NAMES, makeDataTask } from '../envs/generate/data-task.js';
import { writeDataTask } from '../envs/harbor-task.js';
import { taskRecord } from '../envs/task-records.js';
import { checkTasks } from '../envs/trial-matrix.js';
import type { SandboxDriver } from '../sandbox/sandbox.js';
import type { Store } from '../store/store.js';

export interface DataTaskPlan {
  split: Exclude<Split, 'none'>;
  count: number;
}

export interface BuildTasksOptions {
  store: Store;
  driver: SandboxDriver;
  tasksDir: string;
  seed: number;
  plans: DataTaskPlan[];
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

interface Planned {
  id: string;
  split: Exclude<Split, 'none'>;
  seed: string;
  kind: (typeof KIND_NAMES)[number];
}

function planned(options: BuildTasksOptions): Planned[] {
  return options.plans.flatMap(({ split, count }) =>
    Array.from({ length: count }, (_, i) => ({
      id: `data-${split}-${options.seed}-${i}`,
      split,
      seed: `${split}-${options.seed}-${i}`,
      kind: KIND_NAMES[i % KIND_NAMES.length]!,
    })),
  );
}

/** Writes the folders, runs the trial matrix on each, records tasks and trials. What is recorded already is kept. */
export async function buildDataTasks(options: BuildTasksOptions): Promise<Task[]> {
  const { store } = options;
  const all = planned(options);
  const missing = all.filter(({ id }) => !store.task.get(id));
  const made = missing.map((plan) => {
    const task = makeDataTask(plan.seed, plan.split === 'test' ? 'held' : 'train', { kind: plan.kind });
    const dir = join(options.tasksDir, plan.id);
    return { plan, task, dir, ...writeDataTask(task, dir) };
  });
  const hashes = new Set(store.task.list().map((t) => t.contentHash));
  await checkTasks(
    made.map(({ dir }) => dir),
    {
      driver: options.driver,
      size: 'basic',
      signal: options.signal,
      onResult: (result, index) => {
        const { plan, task, dir, contentHash } = made[index]!;
        const duplicate = hashes.has(contentHash);
        hashes.add(contentHash);
        const records = taskRecord(
          {
            kind: task.kind,
            split: plan.split,
            source: plan.seed,
            candidateId: null,
            dir,
            contentHash,
            question: task.question,
          },
          result,
        );
        store.transaction(() => {
          for (const trial of records.trials)
            store.trial.put({ ...trial, id: `${plan.id}/${trial.name}`, taskId: plan.id });
          store.task.put({
            ...records.task,
            id: plan.id,
            ...(duplicate && { status: 'dropped', reason: 'duplicate' }),
          });
        });
        options.onProgress?.(all.length - missing.length + index + 1, all.length);
      },
    },
  );
  options.signal?.throwIfAborted();
  return all.map(({ id }) => store.task.get(id)!);
}

/** Kept tasks of a split, in the order they were planned. */
export function keptTasks(store: Store, split: Split, seed: number): Task[] {
  const index = (task: Task): number => Number(task.id.slice(task.id.lastIndexOf('-') + 1));
  return store.task
    .list({ where: { split } })
    .filter((task) => task.status === 'kept' && task.id.startsWith(`data-${split}-${seed}-`))
    .sort((a, b) => index(a) - index(b));
}
