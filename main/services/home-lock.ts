/**
 * One running app a home: two gateways would both sweep, both capture and both answer for one port. The lock is SQLite's own
 * on a file beside the store, so the kernel drops it with the process, however that ends. Who holds it stands in a second
 * file, because nobody can read the first one meanwhile.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { holdFile } from '../store/database.js';

const LOCK_FILE = 'home.lock.db';
const OWNER_FILE = 'home.lock.json';
/** A starting process looks at the lock for an instant; that is not a reason to refuse. */
const HOLD_TIMEOUT_MS = 1_000;

const Owner = z.object({ pid: z.number().int().positive(), command: z.string().max(2000), startedAt: z.number() });
export type HomeOwner = z.infer<typeof Owner>;

export interface HomeLock {
  release(): void;
}

/** `tackroom serve --port 4141`, as a person would write it. */
function thisCommand(): string {
  return ['tackroom', ...process.argv.slice(2)].join(' ').slice(0, 2000);
}

/** Takes a home for this process. Throws BUSY, naming the process that has it. */
export function lockHome(home: string, command = thisCommand()): HomeLock {
  const release = holdFile(join(home, LOCK_FILE), HOLD_TIMEOUT_MS);
  if (release === null) throw homeInUse(home);
  const owner: HomeOwner = { pid: process.pid, command, startedAt: Date.now() };
  const partial = join(home, `${OWNER_FILE}.${process.pid}.partial`);
  try {
    writeFileSync(partial, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    renameSync(partial, join(home, OWNER_FILE));
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/** Whether another process, or this one, runs the app on this home. Takes the lock for an instant. */
export function isHomeInUse(home: string): boolean {
  const release = holdFile(join(home, LOCK_FILE), HOLD_TIMEOUT_MS);
  release?.();
  return release === null;
}

/** null: nobody has written it yet, or it is damaged. */
export function homeOwner(home: string): HomeOwner | null {
  try {
    return Owner.safeParse(JSON.parse(readFileSync(join(home, OWNER_FILE), 'utf8'))).data ?? null;
  } catch {
    return null;
  }
}

function homeInUse(home: string): TackroomError {
  const owner = homeOwner(home);
  const who = owner
    ? `\`${owner.command}\` (process ${owner.pid}, since ${new Date(owner.startedAt).toISOString()})`
    : 'another process';
  return new TackroomError(
    'BUSY',
    `The home ${home} is in use by ${who}.`,
    'Stop that one first, or take another home with --home DIR. Lists, search, import, export and settings work beside it.',
  );
}
