/** Runs a task's trials: the known solution must earn 1 every time, doing nothing and cheating must earn 0. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxDriver } from '../sandbox/sandbox.js';
import { removeTree } from './remove-tree.js';
import { materializeTask, runSolution, type ScoreOptions, scoreWork } from './score.js';
import { readTaskConfig, type TaskConfig } from './task-config.js';
import { runTaskCommand } from './task-sandbox.js';
import { type MatrixSize, type Trial, trialsFor } from './trials.js';

export interface TrialResult {
  name: string;
  /** null: no score. */
  reward: number | null;
  expected: number;
  ok: boolean;
  seconds: number;
  error: string | null;
}

export interface MatrixResult {
  /** Name of the task, or its folder when it has none. */
  task: string;
  trials: TrialResult[];
  ok: boolean;
}

export interface MatrixOptions {
  driver: SandboxDriver;
  size?: MatrixSize;
  signal?: AbortSignal;
}

export async function checkTask(taskDir: string, options: MatrixOptions): Promise<MatrixResult> {
  const config = readTaskConfig(taskDir);
  const trials: TrialResult[] = [];
  for (const trial of trialsFor(taskDir, config.category, options.size ?? 'full'))
    trials.push(await runTrial(taskDir, config, trial, options));
  return { task: config.name ?? taskDir, trials, ok: trials.every(({ ok }) => ok) };
}

/** Checks many tasks, two at a time by default; results in the order of `taskDirs`. */
export async function checkTasks(
  taskDirs: string[],
  options: MatrixOptions & { concurrency?: number; onResult?: (result: MatrixResult, index: number) => void },
): Promise<MatrixResult[]> {
  const results: MatrixResult[] = new Array(taskDirs.length);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < taskDirs.length && !options.signal?.aborted) {
      const index = next++;
      results[index] = await checkTask(taskDirs[index]!, options);
      options.onResult?.(results[index], index);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? 2 }, work));
  return results;
}

/** Reason a checked task is dropped for, or null: `trial:NAME` of the first that did not come out as it must. */
export function dropReason(result: MatrixResult): string | null {
  const failed = result.trials.find(({ ok }) => !ok);
  return failed ? `trial:${failed.name}${failed.reward === null ? ':no_score' : ''}` : null;
}

async function runTrial(
  taskDir: string,
  config: TaskConfig,
  trial: Trial,
  options: MatrixOptions,
): Promise<TrialResult> {
  const started = performance.now();
  const workDir = mkdtempSync(join(tmpdir(), 'tackroom-trial-'));
  const score: ScoreOptions = { driver: options.driver, signal: options.signal };
  let reward: number | null = null;
  let error: string | null = null;
  try {
    await materializeTask(taskDir, workDir);
    trial.edit?.(workDir);
    if (trial.oracle) error = (await runSolution(taskDir, workDir, score)).error;
    if (trial.shell !== undefined) await runAsAgent(workDir, config, trial.shell, options);
    if (error === null) ({ reward, error } = await scoreWork(taskDir, workDir, score));
  } finally {
    removeTree(workDir);
  }
  return {
    name: trial.name,
    reward,
    expected: trial.expected,
    ok: reward === trial.expected,
    seconds: (performance.now() - started) / 1000,
    error,
  };
}

const AGENT_TIMEOUT_MS = 10_000;

function runAsAgent(workDir: string, config: TaskConfig, shell: string, options: MatrixOptions): Promise<unknown> {
  return runTaskCommand(
    options.driver,
    {
      name: 'trial',
      argv: ['bash', '-c', shell],
      cwd: config.workdir,
      mounts: [{ source: workDir, target: config.workdir, readonly: false }],
      memoryBytes: config.memoryBytes,
      timeoutMs: AGENT_TIMEOUT_MS,
    },
    options.signal,
  );
}
