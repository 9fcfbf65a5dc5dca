/** What every command of the line shares: its streams, Ctrl-C, and how a body becomes an exit code. */
import type { Command } from 'commander';
import { type CommandIo, printError } from './io.js';

const controller = new AbortController();
export const io: CommandIo = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: process.stderr.isTTY === true,
  signal: controller.signal,
};

/** Exit codes of an end that was asked for: 128 + the signal's number, as shells have it. */
const STOPPED = { SIGINT: 130, SIGTERM: 143 } as const;
let stopped: number = STOPPED.SIGINT;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    stopped = STOPPED[signal];
    // A second one does not wait for a clean end.
    if (controller.signal.aborted) process.exit(stopped);
    controller.abort();
  });
let outputFailure: Error | null = null;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader (head, less) went away.
  if (error.code === 'EPIPE') process.exit(0);
  outputFailure ??= error;
});
// A command that did not look may have ended well before its last bytes were refused.
process.on('exit', () => {
  if (outputFailure === null || process.exitCode) return;
  process.exitCode = 1;
  process.stderr.write(`tackroom: The output cannot be written: ${outputFailure.message}. (IO)\n`);
  process.stderr.write('  Write to a place with room.\n');
});
// Nobody reads the messages: the work goes on without them.
process.stderr.on('error', () => undefined);

/** Runs a command body with the options of its whole chain; sets the exit code. */
export type Body = (options: never, io: CommandIo) => Promise<number>;
export const run =
  (load: () => Promise<Body>, positional: string[] = []) =>
  async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command;
    const options: Record<string, unknown> = { ...command.optsWithGlobals() };
    positional.forEach((name, i) => {
      options[name] = args[i];
    });
    try {
      const code = await (await load())(options as never, io);
      process.exitCode = code === STOPPED.SIGINT ? stopped : code;
    } catch (error) {
      process.exitCode = controller.signal.aborted ? stopped : printError(io, error);
    }
  };
/** A body that takes its positional argument first. */
export const first =
  <P, O>(body: (positional: P, options: O, commandIo: CommandIo) => Promise<number>, name: string): Body =>
  (options: never, commandIo) =>
    body((options as Record<string, unknown>)[name] as P, options as O, commandIo);
export const example = (command: Command, text: string): Command =>
  command.addHelpText('after', `\nExample:\n  ${text}`);

/** An option that may be given again; unlike a list it does not swallow what follows. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value];
