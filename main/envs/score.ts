/**
 * Runs a task's own files: its start state into a working directory, its tests on what an agent left there, its
 * solution. The tests run in a sandbox of their own, on a copy of the regular files, after the agent is gone.
 */
import { mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { SandboxDriver } from '../sandbox/sandbox.js';
import { copyWork } from './copy-work.js';
import { removeTree } from './remove-tree.js';
import { readReward } from './reward.js';
import { LOGS_DIR, readTaskConfig, SOLUTION_DIR, TESTS_DIR } from './task-config.js';
import { runTaskCommand, type TaskCommandResult } from './task-sandbox.js';

export interface ScoreOptions {
  driver: SandboxDriver;
  signal?: AbortSignal;
  /** Default: the task's `verifier.timeout_sec`. */
  timeoutMs?: number;
}

export interface Score {
  /** null: the tests gave no score (they broke, timed out, were cancelled); never taken for 0. */
  reward: number | null;
  error: string | null;
  seconds: number;
}

/** Copies the start state of a task into `workDir` (made when missing) and returns what the agent is asked to do. */
export async function materializeTask(taskDir: string, workDir: string): Promise<{ instruction: string }> {
  let instruction: string;
  try {
    instruction = readFileSync(join(taskDir, 'instruction.md'), 'utf8');
  } catch (cause) {
    throw new TackroomError(
      'NOT_FOUND',
      `${taskDir} is not a task folder: it has no readable instruction.md.`,
      undefined,
      { cause },
    );
  }
  const { skipped } = copyWork(join(taskDir, 'environment', 'files'), workDir);
  if (skipped > 0)
    throw new TackroomError(
      'UNSUPPORTED',
      `The start state of ${taskDir} has ${skipped} entries that are links, too large or unreadable.`,
    );
  return { instruction: instruction.trimEnd() };
}

/** Runs `tests/test.sh` on a copy of `workDir`. Never throws for what the agent or the tests do. */
export async function scoreWork(taskDir: string, workDir: string, options: ScoreOptions): Promise<Score> {
  const started = performance.now();
  const finish = (reward: number | null, error: string | null): Score => ({
    reward,
    error,
    seconds: (performance.now() - started) / 1000,
  });
  const scratch = mkdtempSync(join(tmpdir(), 'tackroom-score-'));
  try {
    const config = readTaskConfig(taskDir);
    const timeoutMs = options.timeoutMs ?? config.verifierSeconds * 1000;
    const logs = join(scratch, 'logs');
    mkdirSync(logs);
    copyWork(workDir, join(scratch, 'work'));
    const run = await runTaskCommand(
      options.driver,
      {
        name: `tests of ${config.name ?? taskDir}`,
        argv: script(join(taskDir, 'tests', 'test.sh'), `${TESTS_DIR}/test.sh`),
        env: config.verifierEnv,
        cwd: config.workdir,
        mounts: [
          { source: join(scratch, 'work'), target: config.workdir, readonly: false },
          { source: join(taskDir, 'tests'), target: TESTS_DIR, readonly: true },
          { source: logs, target: LOGS_DIR, readonly: false },
        ],
        memoryBytes: config.memoryBytes,
        timeoutMs,
      },
      options.signal,
    );
    const broken = brokenBy(run, timeoutMs);
    if (broken) return finish(null, `The tests ${broken}.`);
    const { reward, error } = readReward(logs);
    return finish(reward, error && `No score: ${error}.`);
  } catch (error) {
    return finish(null, error instanceof Error ? error.message : String(error));
  } finally {
    removeTree(scratch);
  }
}

/** Runs `solution/solve.sh` in `workDir`: the oracle. `error` says why it did not finish with status 0. */
export async function runSolution(
  taskDir: string,
  workDir: string,
  options: ScoreOptions,
): Promise<{ error: string | null; seconds: number }> {
  const started = performance.now();
  const config = readTaskConfig(taskDir);
  const timeoutMs = options.timeoutMs ?? config.verifierSeconds * 1000;
  const run = await runTaskCommand(
    options.driver,
    {
      name: `solution of ${config.name ?? taskDir}`,
      argv: script(join(taskDir, 'solution', 'solve.sh'), `${SOLUTION_DIR}/solve.sh`),
      env: config.solutionEnv,
      cwd: config.workdir,
      mounts: [
        { source: workDir, target: config.workdir, readonly: false },
        { source: join(taskDir, 'solution'), target: SOLUTION_DIR, readonly: true },
      ],
      memoryBytes: config.memoryBytes,
      timeoutMs,
    },
    options.signal,
  );
  const broken =
    brokenBy(run, timeoutMs) ??
    (run.code === 0 ? null : `ended with status ${run.code}: ${run.output.trim().slice(-400)}`);
  return { error: broken && `The solution ${broken}.`, seconds: (performance.now() - started) / 1000 };
}

/**
 * Harbor ignores the exit status of the tests, and so do we, but a script that was killed has not had the last word on
 * its reward file: whoever killed it may have written it.
 */
function brokenBy(run: TaskCommandResult, timeoutMs: number): string | null {
  if (run.cancelled) return 'stopped: cancelled';
  if (run.limit === 'wall') return `did not finish in ${timeoutMs / 1000} s`;
  if (run.limit === 'memory') return 'ran out of memory';
  if (run.code === null || run.code > 128) return `ended by ${run.signal ?? `status ${run.code}`}`;
  return null;
}

/** Run as a program where it is executable, like Harbor after its chmod; else by bash. */
function script(file: string, inside: string): string[] {
  const info = statSync(file, { throwIfNoEntry: false });
  if (!info?.isFile()) throw new TackroomError('NOT_FOUND', `The task has no ${inside.slice(1)}.`);
  return (info.mode & 0o111) !== 0 ? [inside] : ['bash', inside];
}
