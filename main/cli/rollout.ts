/** `tackroom rollout`: rollouts of a harness on one task, scored. */
import { TackroomError } from '../../contract/errors.js';
import { newId } from '../store/ids.js';
import { rolloutJob, rolloutRecord } from '../train/evaluate.js';
import { RunConfig } from '../train/run-config.js';
import { type GlobalOptions, withServices } from './context.js';
import type { CommandIo } from './io.js';
import { temperatureOf, wholeNumber } from './numbers.js';
import { MAX_WORKERS, openPool, resolveAdapter } from './pool.js';
import { table } from './table.js';
import { importTasks } from './task-folders.js';

export interface RolloutOptions extends GlobalOptions {
  task: string;
  harness: string;
  model?: string;
  adapter?: string;
  n: string;
  workers: string;
  temperature: string;
  seed: string;
  jsonl?: boolean;
}

export async function rolloutCommand(options: RolloutOptions, io: CommandIo): Promise<number> {
  if (options.harness !== 'pi')
    throw new TackroomError(
      'UNSUPPORTED',
      `Rollouts run in pi for the time being, not in ${options.harness}.`,
      'Use --harness pi.',
    );
  const count = wholeNumber('-n', options.n, 1, 100_000);
  const workers = wholeNumber('--workers', options.workers, 1, MAX_WORKERS);
  const temperature = temperatureOf(options.temperature);
  const seed = wholeNumber('--seed', options.seed, 0);
  return withServices(io, options, async (services) => {
    const tasks = importTasks(services.store, options.task, 'none');
    const adapter = await resolveAdapter(services, options.adapter);
    const config = RunConfig.parse({ seed });
    const pool = await openPool(services, Math.min(workers, count * tasks.length));
    const context = {
      runId: newId('cmd'),
      phase: 'rollout',
      step: 0,
      split: 'none' as const,
      config,
      adapter,
      temperature,
    };
    const rows: (string | number | null)[][] = [];
    try {
      const jobs = tasks.flatMap((task) => Array.from({ length: count }, (_, i) => rolloutJob(context, task, i)));
      await pool.run(jobs, {
        signal: io.signal,
        onResult: (result) => {
          services.store.rollout.put({ ...rolloutRecord(context, result), runId: null });
          const line = {
            task: result.job.taskDir,
            reward: result.reward,
            verifier: result.verifier,
            calls: result.calls,
            blocked: result.blocked,
            tokens: result.completionTokens,
            seconds: Number(result.seconds.toFixed(3)),
            finish: result.finish,
          };
          if (options.jsonl) io.stdout.write(`${JSON.stringify(line)}\n`);
          else
            rows.push([line.reward, line.verifier, line.calls, line.blocked, line.tokens, line.seconds, line.finish]);
        },
      });
    } finally {
      await pool.close();
    }
    if (!options.jsonl)
      io.stdout.write(table(['reward', 'verifier', 'calls', 'blocked', 'tokens', 'seconds', 'finish'], rows));
    return 0;
  });
}
