/** What the `engine` commands share: opening the model they name, and reading JSON from a file or stdin. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TackroomError } from '../../contract/errors.js';
import { loadAddon, type NativeAdapter, type NativeModel } from '../../native/addon.js';
import { type CommandIo, readAll } from '../cli/io.js';
import { readGgufHeader } from '../models/gguf-header.js';
import { tokenizerFromGguf } from './tokenizer/from-gguf.js';

export interface EngineOptions {
  model: string;
  adapter?: string;
  /** fp32, bf16, int16, int8, or auto: what serving uses on this machine. */
  precision?: string;
}

const PRECISIONS = ['fp32', 'bf16', 'int16', 'int8', 'auto'] as const;

/** Throws BAD_ARGUMENT for a name that is none. */
export function precisionOf(options: Pick<EngineOptions, 'precision'>): (typeof PRECISIONS)[number] {
  const precision = PRECISIONS.find((name) => name === (options.precision ?? 'auto'));
  if (precision !== undefined) return precision;
  throw new TackroomError(
    'BAD_ARGUMENT',
    `There is no precision "${options.precision}".`,
    'Use --precision fp32, bf16, int16, int8 or auto.',
  );
}

/** Loads the model and, when one is named, its adapter. `trainable`: every weight in fp32; `threads` 0: all cores. */
export async function openModel(
  options: EngineOptions,
  { trainable = false, threads = 0 }: { trainable?: boolean; threads?: number } = {},
): Promise<{ model: NativeModel; adapter: NativeAdapter | null }> {
  const model = await loadAddon().loadModel(options.model, { precision: precisionOf(options), trainable, threads });
  const adapter = options.adapter === undefined ? null : await model.loadAdapter(options.adapter);
  return { model, adapter };
}

/** Every non-empty line of `file` (`-` or absent: stdin) as JSON, with its line number, counted from 1. */
export async function* jsonLines(
  io: Pick<CommandIo, 'stdin' | 'signal'>,
  file: string | undefined,
): AsyncGenerator<{ line: number; value: unknown }> {
  const input = file === undefined || file === '-' ? io.stdin : createReadStream(file);
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY, signal: io.signal })) {
    if (io.signal.aborted) return;
    line++;
    if (text.trim() !== '') yield { line, value: parseJson(text, `Line ${line}`) };
  }
}

/** The whole of `file` (`-`: stdin) as JSON. */
export async function jsonFile(io: Pick<CommandIo, 'stdin'>, file: string): Promise<unknown> {
  return parseJson(
    file === '-' ? await readAll(io.stdin) : await readFile(file, 'utf8'),
    file === '-' ? 'stdin' : file,
  );
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TackroomError('BAD_ARGUMENT', `${where} is not JSON: ${(cause as Error).message}.`, undefined, { cause });
  }
}

/**
 * End-of-sequence ids of a model: of a folder, generation_config.json wins over config.json, as in transformers; of a GGUF
 * file, what its tokenizer ends turns with.
 */
export async function endIds(modelDir: string): Promise<ReadonlySet<number>> {
  if (modelDir.endsWith('.gguf')) return tokenizerFromGguf(readGgufHeader(modelDir)).endIds;
  for (const name of ['generation_config.json', 'config.json']) {
    const text = await readFile(join(modelDir, name), 'utf8').catch(() => null);
    if (text === null) continue;
    const id = (parseJson(text, name) as { eos_token_id?: number | number[] | null }).eos_token_id;
    if (id !== undefined && id !== null) return new Set(Array.isArray(id) ? id : [id]);
  }
  return new Set();
}
