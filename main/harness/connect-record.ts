/** What Tackroom remembers, beside the harness's configuration, to undo exactly what it did. */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { Entry } from './config-entries.js';
import { readBytes, removePartial, writeBytes } from './config-file.js';

const FileRecord = z.object({
  /** Within the folder of the record. */
  name: z.string().regex(/^(?!\.{1,2}$)[^/\\\0]+$/),
  /** Permissions before; null: the file did not exist. */
  mode: z.number().nullable(),
  /** Base64 of the bytes before; null: the file did not exist. */
  original: z.base64().nullable(),
  /** SHA-256 of what Tackroom wrote, the last one first; a kill may have left an earlier one in the file. */
  written: z.array(z.string()),
  entries: z.array(Entry),
});
export type FileRecord = z.infer<typeof FileRecord>;

const ConnectRecord = z.object({
  version: z.literal(2),
  /** Where the settings point, for `tackroom doctor`: the token itself is in the harness's file only. */
  port: z.number(),
  baseUrl: z.string(),
  tokenSha256: z.string(),
  files: z.array(FileRecord),
  /** Folders made, the outermost first. */
  folders: z.array(z.string()),
});
export type ConnectRecord = z.infer<typeof ConnectRecord>;

const RECORD_FILE = 'tackroom-connect.json';
const PRIVATE = 0o600;

export const recordPath = (dir: string): string => join(dir, RECORD_FILE);
/** A copy for people: the record holds the same bytes. */
export const backupPath = (dir: string, name: string): string => join(dir, `${name}.tackroom-backup`);

/** null: not connected. Errors: REFUSED when the record was damaged. */
export function readRecord(dir: string): ConnectRecord | null {
  const bytes = readBytes(recordPath(dir));
  if (bytes === null) return null;
  try {
    return ConnectRecord.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw new TackroomError(
      'REFUSED',
      `${recordPath(dir)} is damaged, so nothing is undone.`,
      `Put the files back yourself and remove it. As they were: ${dir}/*.tackroom-backup.`,
      { cause },
    );
  }
}

export const writeRecord = (dir: string, record: ConnectRecord): void =>
  writeBytes(recordPath(dir), Buffer.from(`${JSON.stringify(record, null, 1)}\n`), PRIVATE);

export const originalOf = (file: FileRecord): Buffer | null =>
  file.original === null ? null : Buffer.from(file.original, 'base64');

export function writeBackups(dir: string, record: ConnectRecord): void {
  for (const file of record.files) writeBytes(backupPath(dir, file.name), originalOf(file), file.mode ?? PRIVATE);
}

/** Half-written files of a run that was killed. */
export function sweepPartials(dir: string, names: readonly string[]): void {
  for (const name of names) for (const path of [join(dir, name), backupPath(dir, name)]) removePartial(path);
  removePartial(recordPath(dir));
}

/** Removes the backups, the record, and the folders that were made for them and are empty again. */
export function forget(dir: string, record: ConnectRecord): void {
  for (const file of record.files) rmSync(backupPath(dir, file.name), { force: true });
  rmSync(recordPath(dir), { force: true });
  for (const folder of [...record.folders].reverse())
    if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Which folders on the way to `dir` do not exist yet, the outermost first. */
export function missingFolders(dir: string): string[] {
  const missing: string[] = [];
  for (let at = dir; !existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}
