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

/** For errors that came without one. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  BAD_ARGUMENT: 'Add --help to the command to see what it takes.',
  NOT_FOUND: 'Check the name; the `list` commands show what is there.',
  IO: 'Check that the file or folder exists and that you may use it.',
  SERVICE_GONE: 'Try again; if it happens once more, run `tackroom doctor`.',
  INTERNAL: 'Run `tackroom doctor`, and report this if it happens again.',
};

/** One sentence, the code, the hint; returns the exit code. */
export function printError(io: Pick<CommandIo, 'stderr'>, error: unknown): number {
  const shape = toErrorShape(error);
  io.stderr.write(`tackroom: ${shape.message} (${shape.code})\n`);
  const hint = shape.hint ?? HINTS[shape.code];
  if (hint) io.stderr.write(`  ${hint}\n`);
  return exitCodeOf(shape.code);
}

export async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString('utf8');
}
