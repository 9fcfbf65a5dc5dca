/** `tackroom engine logprobs`: JSON lines `{"ids":[...]}` in, `{"logprobs":[...]}` out, one for one. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { CommandIo } from '../cli/io.js';
import { type EngineOptions, jsonLines, openModel } from './cli-model.js';

const Line = z.object({ ids: z.array(z.int32()).min(1) });

/** Entry t = log p(ids[t] | ids before t), entry 0 = 0. Each line is scored on its own. */
export async function logprobsCommand(options: EngineOptions & { file?: string }, io: CommandIo): Promise<number> {
  const { model, adapter } = await openModel(options);
  for await (const { line, value } of jsonLines(io, options.file)) {
    const parsed = Line.safeParse(value);
    if (!parsed.success)
      throw new TackroomError(
        'BAD_ARGUMENT',
        `Line ${line} needs "ids", a list of token ids.`,
        'Example: {"ids":[1,2,3]}',
      );
    const [logprobs] = await model.logprobs([Int32Array.from(parsed.data.ids)], adapter, 1, 'serving');
    io.stdout.write(`${JSON.stringify({ logprobs: Array.from(logprobs!) })}\n`);
  }
  model.free();
  return io.signal.aborted ? 130 : 0;
}
