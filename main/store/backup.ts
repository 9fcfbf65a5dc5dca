/** A copy of the database from before its schema changes. */
import { chmodSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Database } from './database.js';

/** `FILE.schema-N.bak`: whole (the write-ahead log included) or absent. Errors of the disk pass through. */
export function backUp(db: Database, file: string, schema: number): void {
  const target = `${file}.schema-${schema}.bak`;
  if (existsSync(target)) return;
  const temporary = `${target}.tmp-${process.pid}`;
  rmSync(temporary, { force: true });
  try {
    db.prepare('VACUUM INTO ?').run(temporary);
    chmodSync(temporary, 0o600);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** What was deleted for good must not live on in a copy. */
export function removeBackups(file: string): void {
  const dir = dirname(file);
  const prefix = `${basename(file)}.schema-`;
  for (const name of readdirSync(dir))
    if (name.startsWith(prefix) && name.includes('.bak')) rmSync(join(dir, name), { force: true });
}
