/** `tackroom train …`: a run is a YAML file. */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parse } from 'yaml';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { DEMO_MODEL } from '../models/library.js';
import type { Services } from '../services/services.js';
import { newId } from '../store/ids.js';
import { createRun, executeRun } from '../train/run.js';
import { RunConfig } from '../train/run-config.js';
import { planRun } from '../train/run-plan.js';
import { EventBus } from '../window/event-bus.js';
import { findModel, type GlobalOptions, withServices, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { wholeNumber } from './numbers.js';
import { MAX_WORKERS, openPool } from './pool.js';
import { formatDuration } from './progress.js';
import { bytesText, table } from './table.js';
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

const PLAN_WORKERS = 4;

/** It runs on this machine, so it costs nothing. */
export async function trainPlanCommand(
  options: GlobalOptions & { file: string; model?: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  const config = readRunFile(options.file);
  const folders = needTasks(config);
  const counts = { tasks: taskDirs(folders.tasks).length, validation: taskDirs(folders.validation).length };
  const { training, ...plan } = planRun(config, {
    model: await findModel(options),
    timed: options.model === undefined || options.model === DEMO_MODEL,
    validationTasks: counts.validation,
    workers: PLAN_WORKERS,
  });
  if (options.json) {
    const document = {
      ...counts,
      steps: config.steps,
      rollouts: plan.rollouts,
      seconds: plan.seconds === null ? null : Math.round(plan.seconds),
      memory_bytes: plan.memoryBytes,
      memory: {
        weights: training.weights,
        adapter: training.adapter,
        trainer: training.memory.total,
        contexts: plan.contextBytes,
      },
      free_memory_ok: plan.fits,
      cost: 0,
    };
    io.stdout.write(`${JSON.stringify(document)}\n`);
    return 0;
  }
  const time =
    plan.seconds === null
      ? 'time unknown with this model'
      : `about ${formatDuration(plan.seconds * 1000)} on ${cpus().length} cores`;
  io.stdout.write(
    `${plan.rollouts} rollouts on ${counts.tasks} tasks in ${config.steps} steps, ${time}, no cost.\n` +
      `Memory: ${bytesText(plan.memoryBytes)} (weights ${bytesText(training.weights)}, adapter ${bytesText(training.adapter)}, training ${bytesText(training.memory.total)}, contexts up to ${bytesText(plan.contextBytes)}, processes the rest)${plan.fits ? '' : ', more than is free'}.\n`,
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
