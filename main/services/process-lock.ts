/** One process at a time: whoever comes second waits for a while and hears for whom, then is refused by name. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { holdFile } from '../store/database.js';

const POLL_MS = 25;

export interface LockOptions {
  /** What is done meanwhile, for those who wait: `connecting pi`. */
  what: string;
  /** How long to wait for another holder. */
  waitMs: number;
  /** Called once when somebody else holds it, with who that is. */
  onWait?(holder: string): void;
}

/** Beside the lock, for people: the lock itself is the system's. */
const Holder = z.object({ pid: z.number(), what: z.string().max(200) });
const holderFile = (file: string): string => `${file}.holder`;

function holderOf(file: string): string {
  try {
    const { pid, what } = Holder.parse(JSON.parse(readFileSync(holderFile(file), 'utf8')));
    return `process ${pid}, ${what}`;
  } catch {
    return 'another process';
  }
}

function forgetHolder(file: string): void {
  try {
    rmSync(holderFile(file), { force: true });
  } catch {
    // The next holder writes over it.
  }
}

async function take(file: string, { what, waitMs, onWait }: LockOptions): Promise<() => void> {
  const deadline = performance.now() + waitMs;
  for (let waited = false; ; waited = true) {
    const release = holdFile(file);
    if (release) {
      try {
        writeFileSync(holderFile(file), JSON.stringify({ pid: process.pid, what }), { mode: 0o600 });
      } catch (error) {
        release();
        throw error;
      }
      return () => {
        forgetHolder(file);
        release();
      };
    }
    if (!waited) onWait?.(holderOf(file));
    if (performance.now() >= deadline)
      throw new TackroomError(
        'BUSY',
        `Another Tackroom (${holderOf(file)}) was not done within ${waitMs / 1000} s, so nothing was changed.`,
        'Wait for it or stop it, then try again.',
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Runs `work` while this process holds `file`, whose folder exists. It is free again when the process ends. Errors: BUSY, those of the disk. */
export async function withLock<T>(file: string, options: LockOptions, work: () => T | Promise<T>): Promise<T> {
  const release = await take(file, options);
  try {
    return await work();
  } finally {
    release();
  }
}
