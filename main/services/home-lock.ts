/**
 * One running app a home: two gateways would both sweep, both capture and both answer for one port. The kernel drops the lock with the
 * process, however that ends.
 */
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { holdFile } from '../store/database.js';
import { hold, holderOf } from './process-lock.js';

/** A starting process looks at the lock for an instant; that is not a reason to refuse. */
const HOLD_TIMEOUT_MS = 1_000;

const lockFile = (home: string): string => join(home, 'home.lock.db');

/** `tackroom serve --port 4141`, as a person would write it. */
const thisCommand = (): string => ['tackroom', ...process.argv.slice(2)].join(' ');

/** Takes a home for this process; returns the release. Throws BUSY, naming the process that has it. */
export function lockHome(home: string, command = thisCommand()): () => void {
  const release = hold(lockFile(home), command, HOLD_TIMEOUT_MS);
  if (release === null) throw homeInUse(home);
  return release;
}

/** Whether another process, or this one, runs the app on this home. Takes the lock for an instant. */
export function isHomeInUse(home: string): boolean {
  const release = holdFile(lockFile(home), HOLD_TIMEOUT_MS);
  release?.();
  return release === null;
}

function homeInUse(home: string): TackroomError {
  const owner = holderOf(lockFile(home));
  const who = owner
    ? `\`${owner.what}\` (process ${owner.pid}, since ${new Date(owner.since).toISOString()})`
    : 'another process';
  return new TackroomError(
    'BUSY',
    `The home ${home} is in use by ${who}.`,
    'Stop that one first, or take another home with --home DIR. Lists, search, import, export and settings work beside it.',
  );
}
