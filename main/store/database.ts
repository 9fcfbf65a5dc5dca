/** Opens the SQLite file: WAL, migrations. The only import of better-sqlite3. */

import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { TackroomError } from '../../contract/errors.js';
import { backUp } from './backup.js';
import { MIGRATIONS } from './migrations.js';

export type Database = Sqlite.Database;
export type Statement = Sqlite.Statement<unknown[]>;

const PREPARED = new WeakMap<Database, Map<string, Statement>>();

/** The statement, compiled once a connection: compiling costs more than a small write. For texts that are few. */
export function prepared(db: Database, sql: string): Statement {
  const known = PREPARED.get(db) ?? new Map<string, Statement>();
  PREPARED.set(db, known);
  const statement = known.get(sql) ?? db.prepare(sql);
  known.set(sql, statement);
  return statement;
}

/** The compiled SQLite to load instead of the package's own: a checkout under Electron needs one of Electron's ABI. */
const nativeBinding = process.env.TACKROOM_SQLITE_BINDING;

/**
 * Nobody else may read it, also where its folder may be; its log gets the same rights from SQLite. A file that is there is never opened
 * here: closing it would take away the locks of this process's other connections.
 */
function ownOnly(file: string): void {
  try {
    if (existsSync(file)) chmodSync(file, 0o600);
    else closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // Another process was first, or it is somebody else's: whether it opens shows below.
  }
}

export function openDatabase(file: string): Database {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let db: Database;
  try {
    ownOnly(file);
    db = new Sqlite(file, nativeBinding ? { nativeBinding } : {});
    db.pragma('journal_mode = WAL');
    // Commits survive the death of any process. What must also survive a power cut goes through `Store.durably`.
    db.pragma('synchronous = NORMAL');
    db.pragma('busy_timeout = 10000');
    db.pragma('foreign_keys = ON');
    const at = db.pragma('user_version', { simple: true }) as number;
    if (at > 0 && at < MIGRATIONS.length) backUp(db, file, at);
    migrate(db);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    if (/newer/.test(message)) throw cause;
    throw new TackroomError(
      'IO',
      `The database ${file} cannot be opened: ${message}.`,
      'Check the free space and the rights of its folder; the file is left as it is.',
      { cause },
    );
  }
  return db;
}

/**
 * Holds `file`, which is made, for this process alone; null: another one holds it, also after `timeoutMs`. The system lets go of it when
 * the holder dies, however it dies: the lock is SQLite's own. Returns the release.
 */
export function holdFile(file: string, timeoutMs = 0): (() => void) | null {
  const db = new Sqlite(file, { timeout: timeoutMs, ...(nativeBinding ? { nativeBinding } : {}) });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return () => void db.close();
  } catch (error) {
    db.close();
    if ((error as { code?: unknown }).code === 'SQLITE_BUSY') return null;
    throw error;
  }
}

/** For the files of other programs. `own`: a copy of ours, in which SQLite may roll back what a kill left. */
export function openReader(file: string, { own = false } = {}): Database {
  const db = new Sqlite(file, {
    readonly: !own,
    fileMustExist: true,
    timeout: 5000,
    ...(nativeBinding ? { nativeBinding } : {}),
  });
  try {
    // What stands in the file's own schema is not run.
    db.pragma('trusted_schema = OFF');
    db.pragma('cell_size_check = ON');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function migrate(db: Database): void {
  // On a full disk what is there can still be read.
  if (db.pragma('user_version', { simple: true }) === MIGRATIONS.length) return;
  const run = db.transaction(() => {
    const at = db.pragma('user_version', { simple: true }) as number;
    if (at > MIGRATIONS.length)
      throw new TackroomError(
        'UNSUPPORTED',
        `The database was written by a newer Tackroom (schema ${at}, this one knows ${MIGRATIONS.length}).`,
        'Update Tackroom.',
      );
    for (let i = at; i < MIGRATIONS.length; i++) db.exec(MIGRATIONS[i]!);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  });
  run.immediate();
}
