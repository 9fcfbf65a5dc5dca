/** What a command may read and write; tests pass their own. Data goes to stdout, everything else to stderr. */
import type { Readable, Writable } from 'node:stream';
import { type ErrorCode, toErrorShape } from '../../contract/errors.js';

export interface CommandIo {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  /** stderr is a terminal: live progress lines and colours are welcome. */
  interactive: boolean;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

/** Exit codes: 0 fine, 1 the thing failed, 2 wrong usage, 3 refused by policy. */
export function exitCodeOf(code: ErrorCode): number {
  if (code === 'BAD_ARGUMENT') return 2;
  if (code === 'REFUSED') return 3;
  return 1;
}

/** One sentence, the code, the hint; returns the exit code. */
export function printError(io: Pick<CommandIo, 'stderr'>, error: unknown): number {
  const shape = toErrorShape(error);
  io.stderr.write(`tackroom: ${shape.message} (${shape.code})\n`);
  if (shape.hint) io.stderr.write(`  ${shape.hint}\n`);
  return exitCodeOf(shape.code);
}

export async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString('utf8');
}
