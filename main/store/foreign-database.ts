/**
 * Opens another program's SQLite file for reading and leaves its folder as it is. A database in use (a -shm file beside
 * it) is read in place, under SQLite's own locks. Any other is read from a private copy with its log beside it: SQLite
 * would have to create files to read a write-ahead log, and a log left by a kill holds what the database does not.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openReader } from './database.js';

const LOGS = ['-wal', '-journal'];
/** Copies until nobody wrote meanwhile. */
const TRIES = 5;
const WAL_VERSION = 2;

export interface ForeignDatabase {
  db: Database;
  close(): void;
}

/** `head`: the first bytes of the file. Errors of SQLite and of the file system pass through. */
export function openForeign(file: string, head: Buffer): ForeignDatabase {
  const wal = head[18] === WAL_VERSION;
  if (wal ? existsSync(`${file}-shm`) : !existsSync(`${file}-journal`)) {
    const db = openReader(file);
    return { db, close: () => db.close() };
  }
  const dir = mkdtempSync(join(tmpdir(), 'tackroom-import-'));
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  try {
    const copy = join(dir, 'copy.db');
    copyQuiet(file, copy);
    const db = openReader(copy, { own: true });
    return {
      db,
      close() {
        db.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function copyQuiet(file: string, copy: string): void {
  for (let i = 0; i < TRIES; i++) {
    const before = stateOf(file);
    for (const ending of ['', ...LOGS]) {
      rmSync(`${copy}${ending}`, { force: true });
      if (existsSync(`${file}${ending}`)) copyFileSync(`${file}${ending}`, `${copy}${ending}`);
    }
    if (stateOf(file) === before) return;
  }
  throw Object.assign(new Error('it is written all the time'), { code: 'SQLITE_BUSY' });
}

/** Size and time of a database and its logs. */
export function stateOf(file: string): string {
  return ['', ...LOGS]
    .map((ending) => {
      const stat = statSync(`${file}${ending}`, { throwIfNoEntry: false });
      return stat ? `${stat.size}:${stat.mtimeMs}` : '-';
    })
    .join(' ');
}
