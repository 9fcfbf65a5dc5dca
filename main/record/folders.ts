/** Folders and what lies in them, links and spelling apart. */
import { realpathSync } from 'node:fs';
import { posix, win32 } from 'node:path';

/** Paths whose links are remembered. */
const CACHED = 1000;
const real = new Map<string, string>();

/** The folder itself where links lead elsewhere; as it was where it is not there. */
export function realFolder(dir: string): string {
  const known = real.get(dir);
  if (known !== undefined) return known;
  let found: string;
  try {
    found = realpathSync.native(dir);
  } catch {
    return dir;
  }
  if (real.size >= CACHED) real.clear();
  real.set(dir, found);
  return found;
}

/** Whether `dir` is `folder` or lies below it, by its name or by where its links lead. */
export function liesIn(dir: string, folder: string): boolean {
  return [dir, realFolder(dir)].some((one) => below(one, folder) || below(one, realFolder(folder)));
}

/** The first of `folders` that `dir` lies in. */
export const folderAround = (dir: string, folders: readonly string[]): string | undefined =>
  folders.find((folder) => liesIn(dir, folder));

function below(dir: string, folder: string): boolean {
  const path = /^(?:[A-Za-z]:|\\\\)/.test(folder) ? win32 : posix;
  const way = path.relative(folder, dir);
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}
