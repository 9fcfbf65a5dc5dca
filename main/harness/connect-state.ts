/** What Tackroom remembers, beside the harness's configuration, to undo exactly what it did. */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { readBytes, writeBytes } from './config-file.js';

const FileState = z.object({
  name: z.string(),
  /** Permissions before; null: the file did not exist. */
  mode: z.number().nullable(),
  /** Of the bytes Tackroom wrote last. */
  writtenSha256: z.string(),
  /** Someone else changed it in between: its backup may no longer be put back whole. */
  edited: z.boolean(),
});
const State = z.object({
  version: z.literal(1),
  files: z.array(FileState),
  /** Folders made, the outermost first. */
  folders: z.array(z.string()),
});
export type FileState = z.infer<typeof FileState>;
export type ConnectState = z.infer<typeof State>;

const STATE_FILE = 'tackroom-connect.json';
const PRIVATE = 0o600;

export const backupPath = (dir: string, name: string): string => join(dir, `${name}.tackroom-backup`);

/** null: not connected. Errors: REFUSED when the record was damaged. */
export function readState(dir: string): ConnectState | null {
  const bytes = readBytes(join(dir, STATE_FILE));
  if (bytes === null) return null;
  try {
    return State.parse(JSON.parse(bytes));
  } catch (cause) {
    throw new TackroomError(
      'REFUSED',
      `${join(dir, STATE_FILE)} is damaged, so nothing is undone.`,
      `The files as they were: ${dir}/*.tackroom-backup.`,
      { cause },
    );
  }
}

export const writeState = (dir: string, state: ConnectState): void =>
  writeBytes(join(dir, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`, PRIVATE);

/** Removes the record, the backups, and the folders that were made for them and are empty again. */
export function forget(dir: string, state: ConnectState): void {
  for (const file of state.files) rmSync(backupPath(dir, file.name), { force: true });
  rmSync(join(dir, STATE_FILE), { force: true });
  for (const folder of [...state.folders].reverse())
    if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Which folders on the way to `dir` do not exist yet, the outermost first. */
export function missingFolders(dir: string): string[] {
  const missing: string[] = [];
  for (let at = dir; !existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}
