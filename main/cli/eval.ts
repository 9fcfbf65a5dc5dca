/** `tackroom eval`: a held-out table with intervals, base against adapter. */
import { TackroomError } from '../../contract/errors.js';
import type { Rollout } from '../../contract/records.js';
import { throughRestarts } from '../services/services.js';
import { newId } from '../store/ids.js';
import { evaluate, passByTask } from '../train/evaluate.js';
import { RunConfig } from '../train/run-config.js';
import { pairedDifference } from '../train/statistics.js';
import { type GlobalOptions, withServices } from './context.js';
import type { CommandIo } from './io.js';
import { temperatureOf, wholeNumber } from './numbers.js';
import { MAX_WORKERS, openPool, resolveAdapter } from './pool.js';
import { Progress } from './progress.js';
import { table } from './table.js';
import { importTasks } from './task-folders.js';

export interface EvalOptions extends GlobalOptions {
  tasks: string;
  adapter?: string;
  run?: string;
  model?: string;
  temperature: string;
  samples: string;
  workers: string;
  json?: boolean;
}

export async function evalCommand(options: EvalOptions, io: CommandIo): Promise<number> {
  const workers = wholeNumber('--workers', options.workers, 1, MAX_WORKERS);
  const samples = wholeNumber('--samples', options.samples, 1, 10_000);
  const temperature = temperatureOf(options.temperature);
  return withServices(io, options, async (services) => {
    let key = options.adapter;
    if (options.run) {
      const run = services.store.run.get(options.run);
      if (!run)
        throw new TackroomError(
          'NOT_FOUND',
          `There is no run ${options.run}.`,
          'List them with `tackroom train status`.',
        );
      const best = run.bestCheckpointId ? services.store.checkpoint.get(run.bestCheckpointId) : undefined;
      if (!best)
        throw new TackroomError(
          'NOT_FOUND',
          `The run ${options.run} has no chosen checkpoint yet.`,
          'Let it finish, or name an adapter.',
        );
      key = best.dir;
    }
    const adapter = await resolveAdapter(services, key);
    const tasks = importTasks(services.store, options.tasks, 'none');
    const pool = await openPool(services, workers);
    const progress = new Progress(io);
    const runId = newId('eval');
    try {
      const measure = async (
        who: string,
        hash: string | null,
      ): Promise<{ row: Record<string, unknown>; rollouts: Rollout[] }> => {
        const measureOnce = async (): ReturnType<typeof evaluate> => {
          // An engine that was started again has forgotten the adapter.
          await resolveAdapter(services, hash === null ? undefined : key);
          return evaluate({
            services,
            pool,
            tasks,
            samples: samples,
            checkpointId: null,
            signal: io.signal,
            context: {
              runId,
              phase: who,
              step: 0,
              split: 'none',
              config: RunConfig.parse({}),
              adapter: hash,
              temperature,
            },
            onRollout: (_, done, total) => progress.status(`${who}: ${done} of ${total} rollouts`),
          });
        };
        const { evaluation: e, rollouts } = await throughRestarts(measureOnce);
        return {
          row: {
            who,
            adapter: hash,
            tasks: e.tasks,
            rollouts: e.rollouts,
            pass1: e.pass1,
            ci95: e.ci95,
            calls_per_solved: e.callsPerSolved,
            tokens: e.tokens,
            seconds: e.seconds,
          },
          rollouts,
        };
      };
      const base = await measure('base', null);
      const measured = [base];
      let paired: { pass1_diff: number; ci95: [number, number] } | null = null;
      if (adapter) {
        const after = await measure('adapter', adapter);
        measured.push(after);
        const [b, a] = [passByTask(base.rollouts), passByTask(after.rollouts)];
        const ids = [...b.keys()].filter((id) => a.has(id));
        const d = pairedDifference(
          ids.map((id) => b.get(id)!),
          ids.map((id) => a.get(id)!),
        );
        paired = { pass1_diff: d.diff, ci95: d.ci95 };
      }
      progress.clear();
      if (options.json) io.stdout.write(`${JSON.stringify({ evaluations: measured.map((m) => m.row), paired })}\n`);
      else {
        const percent = (x: unknown): string => `${(100 * (x as number)).toFixed(1)} %`;
        io.stdout.write(
          table(
            ['policy', 'tasks', 'pass@1', '95 %', 'calls per solved'],
            measured.map(({ row }) => [
              row.who as string,
              row.tasks as number,
              percent(row.pass1),
              (row.ci95 as number[]).map(percent).join(' - '),
              row.calls_per_solved === null ? '-' : (row.calls_per_solved as number).toFixed(2),
            ]),
          ),
        );
        if (paired)
          io.stdout.write(
            `paired difference ${percent(paired.pass1_diff)}, 95 % ${paired.ci95.map(percent).join(' to ')}\n`,
          );
      }
      return 0;
    } finally {
      await pool.close();
    }
  });
}
