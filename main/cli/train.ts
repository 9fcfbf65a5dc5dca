/** `tackroom train …`: a run is a YAML file. */
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parse } from 'yaml';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { Services } from '../services/services.js';
import { newId } from '../store/ids.js';
import { createRun, executeRun } from '../train/run.js';
import { RunConfig } from '../train/run-config.js';
import { EventBus } from '../window/event-bus.js';
import { type GlobalOptions, withServices, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { wholeNumber } from './numbers.js';
import { MAX_WORKERS, openPool } from './pool.js';
import { formatDuration } from './progress.js';
import { table } from './table.js';
import { importTasks, taskDirs } from './task-folders.js';

/** Reads and checks a run file. Errors: BAD_ARGUMENT naming the field. */
export function readRunFile(file: string): RunConfig {
  let raw: unknown;
  try {
    raw = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new TackroomError(
      'BAD_ARGUMENT',
      `The run file ${file} cannot be read: ${cause instanceof Error ? cause.message.split('\n')[0] : cause}.`,
      undefined,
      { cause },
    );
  }
  const parsed = RunConfig.safeParse(raw ?? {});
  if (!parsed.success)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `The run file ${file} is not valid: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}.`,
      'docs/training.md lists the fields.',
    );
  return parsed.data;
}

function needTasks(config: RunConfig): { tasks: string; validation: string } {
  if (!config.tasks || !config.validation)
    throw new TackroomError(
      'BAD_ARGUMENT',
      'The run file names no `tasks` or no `validation` folder.',
      'Both are folders of Harbor tasks; validation is never trained on.',
    );
  return { tasks: config.tasks, validation: config.validation };
}

/** CPU seconds of a rollout of the demo model in pi, verifier included; resident bytes of engine and of one pi (docs/demo.md). */
const SECONDS_PER_ROLLOUT = 0.25;
const ENGINE_BYTES = 800 * 2 ** 20;
const WORKER_BYTES = 230 * 2 ** 20;
const PLAN_WORKERS = 4;

/** Predicted from rates measured with the demo model; it runs on this machine, so it costs nothing. */
export async function trainPlanCommand(
  options: GlobalOptions & { file: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  const config = readRunFile(options.file);
  const folders = needTasks(config);
  const counts = { tasks: taskDirs(folders.tasks).length, validation: taskDirs(folders.validation).length };
  const rollouts =
    config.steps * config.tasksPerStep * config.groupSize +
    (Math.ceil(config.steps / config.checkpointEvery) + 1) * counts.validation * config.validationSamples;
  const seconds = (rollouts * SECONDS_PER_ROLLOUT) / Math.max(1, cpus().length);
  const memory = ENGINE_BYTES + PLAN_WORKERS * WORKER_BYTES;
  const plan = {
    ...counts,
    steps: config.steps,
    rollouts,
    seconds: Math.round(seconds),
    memory_bytes: memory,
    free_memory_ok: totalmem() > memory,
    cost: 0,
  };
  if (options.json) io.stdout.write(`${JSON.stringify(plan)}\n`);
  else
    io.stdout.write(
      `${plan.rollouts} rollouts on ${counts.tasks} tasks in ${config.steps} steps, about ${formatDuration(seconds * 1000)} on ${cpus().length} cores, ${Math.round(plan.memory_bytes / 2 ** 20)} MB, no cost.\n`,
    );
  return 0;
}

async function drive(services: Services, runId: string, workers: number, io: CommandIo): Promise<number> {
  const run = services.store.run.get(runId);
  if (!run)
    throw new TackroomError('NOT_FOUND', `There is no run ${runId}.`, 'List them with `tackroom train status`.');
  const folders = needTasks(RunConfig.parse(run.config));
  const pool = await openPool(services, workers);
  try {
    const { best } = await executeRun({
      services,
      pool,
      bus: new EventBus(),
      runId,
      trainTasks: importTasks(services.store, folders.tasks, 'train'),
      validationTasks: importTasks(services.store, folders.validation, 'validation'),
      signal: io.signal,
      onProgress: (text) => io.stderr.write(`${text}\n`),
    });
    io.stdout.write(
      `${JSON.stringify({ run: runId, best_step: best.step, checkpoint: best.dir, adapter: best.adapterHash })}\n`,
    );
    return 0;
  } finally {
    await pool.close();
  }
}

export async function trainStartCommand(
  options: GlobalOptions & { file: string; model?: string; workers: string },
  io: CommandIo,
): Promise<number> {
  const config = readRunFile(options.file);
  needTasks(config);
  const workers = wholeNumber('--workers', options.workers, 1, MAX_WORKERS);
  return withServices(io, options, async (services) => {
    const run = createRun(services, newId('run'), config);
    io.stderr.write(`${run.id}\n`);
    return drive(services, run.id, workers, io);
  });
}

export async function trainResumeCommand(
  options: GlobalOptions & { id: string; model?: string; workers: string },
  io: CommandIo,
): Promise<number> {
  const workers = wholeNumber('--workers', options.workers, 1, MAX_WORKERS);
  return withServices(io, options, (services) => drive(services, options.id, workers, io));
}

export async function trainStatusCommand(
  options: GlobalOptions & { id?: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  return withStore(options, (store) => {
    const runs = options.id ? [store.run.get(options.id)].filter((r) => r !== undefined) : store.run.list();
    if (options.id && runs.length === 0) throw new TackroomError('NOT_FOUND', `There is no run ${options.id}.`);
    if (options.json) io.stdout.write(`${JSON.stringify({ runs })}\n`);
    else
      io.stdout.write(
        table(
          ['id', 'name', 'status', 'step', 'waiting for'],
          runs.map((r) => [r.id, r.name, r.status, `${r.step}/${r.steps}`, r.waitingFor ?? '']),
        ),
      );
    return 0;
  });
}
