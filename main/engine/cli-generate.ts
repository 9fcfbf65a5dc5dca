/** `tackroom engine generate --ids`: JSON lines `{"ids":[...],"n":32}` in, `{"ids":[...]}` (new tokens only) out. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { NativeAdapter, NativeModel, SampleOptions } from '../../native/addon.js';
import type { CommandIo } from '../cli/io.js';
import { type EngineOptions, endIds, jsonLines, openModel } from './cli-model.js';

const Line = z.object({ ids: z.array(z.int32()).min(1), n: z.int().min(1).default(32) });
type Line = z.infer<typeof Line>;

/** Prompts decoded together. */
const BATCH = 16;

export interface GenerateOptions extends EngineOptions {
  file?: string;
  greedy?: boolean;
  ids?: boolean;
  ignoreEos?: boolean;
  temperature?: string;
  seed?: string;
}

export async function generateCommand(options: GenerateOptions, io: CommandIo): Promise<number> {
  if (!options.ids)
    throw new TackroomError(
      'BAD_ARGUMENT',
      'engine generate works on token ids.',
      'Add --ids and give lines such as {"ids":[1,2,3],"n":32}.',
    );
  const sample = sampleOptions(options);
  const { model, adapter } = await openModel(options);
  const stop = options.ignoreEos ? new Set<number>() : await endIds(options.model);
  let batch: Line[] = [];
  const flush = async () => {
    for (const ids of await generate(model, adapter, batch, sample, stop, io.signal))
      io.stdout.write(`${JSON.stringify({ ids })}\n`);
    batch = [];
  };
  for await (const { line, value } of jsonLines(io, options.file)) {
    const parsed = Line.safeParse(value);
    if (!parsed.success)
      throw new TackroomError(
        'BAD_ARGUMENT',
        `Line ${line} needs "ids", a list of token ids, and "n", how many to make.`,
      );
    if (batch.push(parsed.data) === BATCH) await flush();
  }
  if (!io.signal.aborted) await flush();
  model.free();
  return io.signal.aborted ? 130 : 0;
}

function sampleOptions(options: GenerateOptions): SampleOptions {
  const temperature = options.greedy ? 0 : Number(options.temperature ?? 1);
  const seed = Number(options.seed ?? 0);
  if (!(temperature >= 0)) throw new TackroomError('BAD_ARGUMENT', '--temperature must be a number of at least 0.');
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new TackroomError('BAD_ARGUMENT', '--seed must be a whole number of at least 0.');
  return { temperature, seed };
}

/** Continues every prompt until its `n` tokens or an end token (kept as the last one). */
async function generate(
  model: NativeModel,
  adapter: NativeAdapter | null,
  prompts: Line[],
  sample: SampleOptions,
  stop: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<number[][]> {
  const jobs = prompts.map(({ ids, n }, i) => ({
    sequence: model.newSequence(adapter),
    next: Int32Array.from(ids),
    // Prompts of equal length must not share their random numbers.
    sample: { ...sample, seed: sample.seed + i },
    made: [] as number[],
    n,
  }));
  let open = jobs;
  while (open.length > 0 && !signal.aborted) {
    const answers = await model.decode(
      open.map((job) => ({ sequence: job.sequence, ids: job.next, sample: job.sample })),
    );
    answers.forEach(({ token }, i) => {
      const job = open[i]!;
      job.made.push(token);
      job.next = Int32Array.of(token);
    });
    open = open.filter((job) => job.made.length < job.n && !stop.has(job.made.at(-1)!));
  }
  for (const job of jobs) job.sequence.free();
  return jobs.map((job) => job.made);
}
