/** Files for their owner alone, written in one step, and deleted by overwriting them first. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { TackroomError } from '../../contract/errors.js';

const PRIVATE = 0o600;
const OTHERS = 0o077;
const MAX_BYTES = 256 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

const partialOf = (path: string): string => `${path}.partial`;
const oldOf = (path: string): string => `${path}.old`;

/** null: there is none. Rights that let others read it are taken back. Errors: REFUSED for what is not this user's own file. */
export function readPrivate(path: string): Buffer | null {
  try {
    const { mode, uid, size } = checkOwn(path);
    if (size > MAX_BYTES)
      throw new TackroomError('REFUSED', `${path} is larger than a vault can be.`, 'Put back a copy that is whole.');
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0 && uid === process.getuid?.()) chmodSync(path, PRIVATE);
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function checkOwn(path: string): { mode: number; uid: number; size: number } {
  const info = lstatSync(path);
  if (!info.isFile())
    throw new TackroomError('REFUSED', `${path} is not a file of its own, so it is not used.`, 'Remove it.');
  const me = process.getuid?.();
  if (me !== undefined && me !== 0 && info.uid !== me)
    throw new TackroomError(
      'REFUSED',
      `${path} belongs to another user, who could change it, so it is not used.`,
      'Make it yours (chown), or remove it.',
    );
  return info;
}

function flush(folder: string): void {
  // Windows opens no folders; its rename is written through.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Replaces the file in one step that a kill cannot tear; the bytes before are overwritten. One writer at a time. */
export function writePrivate(path: string, bytes: Buffer): void {
  sweep(path);
  const partial = partialOf(path);
  const file = openSync(partial, 'wx', PRIVATE);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (existsSync(path)) keepOld(path);
  renameSync(partial, path);
  flush(dirname(path));
  scrub(oldOf(path));
}

/** The old bytes keep a name, so that they can be found and overwritten also after a kill. */
function keepOld(path: string): void {
  try {
    linkSync(path, oldOf(path));
  } catch (error) {
    // Some file systems have no second names: there the old bytes go as the disk lets them go.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(String((error as NodeJS.ErrnoException).code)))
      throw error;
  }
}

/** What a kill left of an earlier write. */
function sweep(path: string): void {
  scrub(partialOf(path));
  scrub(oldOf(path));
}

/** Overwrites and removes; nothing happens where there is no file. */
export function scrub(path: string): void {
  let file: number;
  try {
    file = openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    const { size, nlink } = fstatSync(file);
    // A kill between link and rename: it is still the file itself.
    if (nlink === 1) overwrite(file, size);
  } finally {
    closeSync(file);
  }
  rmSync(path, { force: true });
}

function overwrite(file: number, size: number): void {
  const zeros = Buffer.alloc(Math.min(size, CHUNK_BYTES));
  for (let at = 0; at < size; at += zeros.length) writeSync(file, zeros, 0, Math.min(zeros.length, size - at), at);
  fsyncSync(file);
}

/** For good, with what a kill may have left of it. */
export function removePrivate(path: string): void {
  sweep(path);
  scrub(path);
  flush(dirname(path));
}
