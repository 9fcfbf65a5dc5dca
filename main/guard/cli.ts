/** `tackroom guard check [FILE|-] --jsonl`: verdicts for recorded or hypothetical answers, one line each. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { Harness } from '../../contract/records.js';
import { checkWithPlugins } from './check-with-plugins.js';
import { checkResponse } from './guard.js';
import { loadPlugin, type Plugin, stopPlugins } from './plugins.js';
import { readExchange } from './wire.js';

export interface CommandIo {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
}
export interface GuardCheckOptions {
  /** Path, or `-` for stdin. */
  file: string;
  jsonl?: boolean;
  plugin?: string[];
}

const Line = z.object({
  id: z.string(),
  profile: z.enum(['training', 'desktop']),
  harness: Harness.catch('unknown'),
  task: z.string().optional(),
  request: z.unknown(),
  response: z.unknown(),
});

/** Exit code: 0 every call allowed or suspicious, 3 at least one blocked. Errors: BAD_ARGUMENT (a line), those of `loadPlugin`. */
export async function guardCheckCommand(options: GuardCheckOptions, io: CommandIo): Promise<number> {
  const plugins = await Promise.all((options.plugin ?? []).map((path) => loadPlugin(path)));
  try {
    return await checkLines(options, plugins, io);
  } finally {
    stopPlugins(plugins);
  }
}

async function checkLines(options: GuardCheckOptions, plugins: readonly Plugin[], io: CommandIo): Promise<number> {
  const input = options.file === '-' ? io.stdin : createReadStream(options.file);
  let number = 0;
  let blocked = false;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (line.trim() === '') continue;
    const start = performance.now();
    const { id, ...rest } = parseLine(line, number);
    const exchange = { ...rest, ...readExchange(rest.request, rest.response) };
    const verdicts = plugins.length === 0 ? checkResponse(exchange) : await checkWithPlugins(exchange, plugins);
    blocked ||= verdicts.some((verdict) => verdict.verdict === 'block');
    const ms = performance.now() - start;
    if (options.jsonl === false)
      for (const v of verdicts) io.stdout.write(`${id}\t${v.toolCallId}\t${v.verdict}\t${v.rule}\t${v.reason}\n`);
    else
      io.stdout.write(
        `${JSON.stringify({ id, ms: round(ms), verdicts: verdicts.map(({ toolCallId, ms: _, ...verdict }) => ({ tool_call_id: toolCallId, ...verdict })) })}\n`,
      );
  }
  return blocked ? 3 : 0;
}

function parseLine(line: string, number: number): z.infer<typeof Line> {
  try {
    return Line.parse(JSON.parse(line));
  } catch (cause) {
    throw new TackroomError(
      'BAD_ARGUMENT',
      `Line ${number} is not a guard case.`,
      'A line is {id, profile, harness, api, request, response, task?}.',
      { cause },
    );
  }
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
