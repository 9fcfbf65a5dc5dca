/** Runs the body of a command as the command line does, without a process. */
import { PassThrough } from 'node:stream';
import { type CommandIo, printError } from '../../main/cli/io.js';

export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

/** Errors become the exit code and text that a user would see. */
export async function runCommand(body: (io: CommandIo) => Promise<number>): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const signal = new AbortController().signal;
  const io: CommandIo = { stdin: new PassThrough(), stdout, stderr, interactive: false, signal };
  const code = await body(io).catch((error: unknown) => printError(io, error));
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}
