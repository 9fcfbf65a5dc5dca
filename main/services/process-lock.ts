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

/** Beside the lock, for people: the lock itself is the system's, on a file that nobody else can read meanwhile. */
const Holder = z.object({ pid: z.number().int().positive(), what: z.string().max(2000), since: z.number() });
const holderFile = (file: string): string => `${file}.holder`;

/** Who holds `file`, since when (Unix milliseconds); null: nobody has written it yet, or it is damaged. */
export function holderOf(file: string): z.infer<typeof Holder> | null {
  try {
    return Holder.safeParse(JSON.parse(readFileSync(holderFile(file), 'utf8'))).data ?? null;
  } catch {
    return null;
  }
}

/** Holds `file` until the returned function is called or the process ends; null: another one holds it. Errors: those of the disk. */
export function hold(file: string, what: string, timeoutMs = 0): (() => void) | null {
  const release = holdFile(file, timeoutMs);
  if (release === null) return null;
  try {
    const holder = { pid: process.pid, what: what.slice(0, 2000), since: Date.now() };
    writeFileSync(holderFile(file), JSON.stringify(holder), { mode: 0o600 });
  } catch (error) {
    release();
    throw error;
  }
  return () => {
    try {
      rmSync(holderFile(file), { force: true });
    } catch {
      // The next holder writes over it.
    }
    release();
  };
}

function nameOf(file: string): string {
  const holder = holderOf(file);
  return holder ? `process ${holder.pid}, ${holder.what}` : 'another process';
}

async function take(file: string, { what, waitMs, onWait }: LockOptions): Promise<() => void> {
  const deadline = performance.now() + waitMs;
  for (let waited = false; ; waited = true) {
    const release = hold(file, what);
    if (release) return release;
    if (!waited) onWait?.(nameOf(file));
    if (performance.now() >= deadline)
      throw new TackroomError(
        'BUSY',
        `Another Tackroom (${nameOf(file)}) was not done within ${waitMs / 1000} s, so nothing was changed.`,
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
