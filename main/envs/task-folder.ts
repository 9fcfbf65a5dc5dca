/** Writes a whole Harbor task folder at once: into a sibling first, then renamed, so no half-written task is ever seen. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';

export interface FolderFile {
  content: string | Uint8Array;
  executable?: boolean;
}
/** Files by POSIX path relative to the folder. */
export type FolderFiles = Record<string, FolderFile>;

/** Replaces `dir` by a folder with exactly `files`. BAD_ARGUMENT for a path that leaves the folder. */
export function writeTaskFolder(dir: string, files: FolderFiles): void {
  const staging = `${dir}.new-${randomBytes(6).toString('hex')}`;
  const made = new Set<string>();
  try {
    for (const [path, { content, executable }] of Object.entries(files)) {
      const target = join(staging, checkedPath(path));
      const parent = dirname(target);
      if (!made.has(parent)) {
        mkdirSync(parent, { recursive: true });
        made.add(parent);
      }
      writeFileSync(target, content, { mode: executable ? 0o755 : 0o644 });
    }
    rmSync(dir, { recursive: true, force: true });
    renameSync(staging, dir);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}

/** The path itself when it is relative, normalised and stays inside its folder. */
export function checkedPath(path: string): string {
  const parts = path.split('/');
  if (path === '' || path.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..'))
    throw new TackroomError('BAD_ARGUMENT', `The path ${JSON.stringify(path)} does not stay inside its folder.`);
  return path;
}
