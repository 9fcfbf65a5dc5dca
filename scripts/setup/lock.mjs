// One set-up at a time per checkout: a file with the process id of its holder. The file of a dead process is taken over.
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD } from './paths.mjs';

const lockFile = join(BUILD, 'setup.lock');
const WAIT_DEADLINE_MS = 30 * 60_000;
const POLL_MS = 500;
/** A lock file without a readable pid is being written right now, unless it is older than this. */
const EMPTY_GRACE_MS = 5_000;

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Pid of the living holder; 0 while the file is being written; null when the lock is free or stale. */
function holder(file = lockFile) {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    if (Number.isInteger(pid)) return alive(pid) ? pid : null;
    return Date.now() - statSync(file).mtimeMs < EMPTY_GRACE_MS ? 0 : null;
  } catch {
    return null;
  }
}

/** Removes a stale lock. Moved aside first: another waiter may have replaced it since it was read. */
function removeStale() {
  const aside = `${lockFile}.${process.pid}`;
  try {
    renameSync(lockFile, aside);
    if (holder(aside) === null) rmSync(aside, { force: true });
    else renameSync(aside, lockFile);
  } catch {
    // Gone already: someone else removed it.
  }
}

function tryTake() {
  try {
    const handle = openSync(lockFile, 'wx');
    writeSync(handle, `${process.pid}\n`);
    closeSync(handle);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Takes the lock, waiting for another set-up of this checkout to end; `onWait(pid)` is called once. Resolves with the
 * function that gives it back; rejects with one sentence after half an hour.
 */
export async function takeLock(onWait) {
  mkdirSync(BUILD, { recursive: true });
  const deadline = Date.now() + WAIT_DEADLINE_MS;
  let told = false;
  while (!tryTake()) {
    const pid = holder();
    if (pid === null) {
      removeStale();
      continue;
    }
    if (!told && pid > 0) {
      told = true;
      onWait(pid);
    }
    if (Date.now() > deadline)
      throw new Error(`Another set-up (process ${pid}) holds ${lockFile} for over 30 minutes.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const release = () => rmSync(lockFile, { force: true });
  process.once('exit', release);
  return release;
}
