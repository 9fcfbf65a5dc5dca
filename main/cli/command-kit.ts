/** What the files that define commands share: `index.ts` makes it once. */
import type { Command } from 'commander';
import type { CommandIo } from './io.js';

/** A command's body: of the options of its whole chain, and what it may read and write; gives the exit code. */
export type Body = (options: never, io: CommandIo) => Promise<number>;

export interface CommandKit {
  program: Command;
  version: string;
  /** Loads and runs a body when its command is called. `positional`: the options its arguments become. */
  run(load: () => Promise<Body>, positional?: string[]): (...args: unknown[]) => Promise<void>;
  example(command: Command, text: string): Command;
}

/** An option that may be given again; unlike a list it does not swallow what follows. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value];
