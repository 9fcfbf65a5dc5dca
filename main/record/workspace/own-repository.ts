/**
 * Whether a repository is that of the folder. What a folder brings along in its `.git` can name other places of this machine: as the
 * files to compare with, or as the commits. Neither may come into what is captured of the folder.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** The folder whose `.git` git would take; null: there is none. It is the work tree, whatever the settings say. */
export function folderWithGit(cwd: string): string | null {
  for (let dir = realpathSync(cwd); ; dir = dirname(dir)) {
    if (existsSync(join(dir, '.git'))) return dir;
    if (dirname(dir) === dir) return null;
  }
}

export interface Repository {
  root: string;
  /** Of this work tree, and of all of them; whole paths. */
  gitDir: string;
  commonDir: string;
  /** The setting `core.worktree`. */
  worktree: string | null;
  /** That HEAD stands for, with `refs/`. */
  ref: string | null;
}

/** Throws with a reason for a person. */
export function checkOwnRepository({ root, gitDir, commonDir, worktree, ref }: Repository): void {
  const isInside = isWithin(gitDir, root) && isWithin(commonDir, root);
  const isLinked =
    samePath(dirname(dirname(gitDir)), commonDir) &&
    samePath(resolve(gitDir, read(join(gitDir, 'gitdir'))), join(root, '.git'));
  const isSubmodule = samePath(gitDir, commonDir) && worktree !== null && samePath(resolve(gitDir, worktree), root);
  // One that lies elsewhere says itself whose it is.
  if (!isInside && !isLinked && !isSubmodule)
    throw new Error('its .git leads to a repository that does not know this folder');
  const shared = ['refs', 'packed-refs', 'reftable', ...(ref === null ? [] : [ref])];
  const places = [
    ...['HEAD', 'index'].map((name) => [gitDir, name] as const),
    ...shared.map((name) => [commonDir, name] as const),
  ];
  if (places.some(([dir, name]) => !isWithin(join(dir, name), dir)))
    throw new Error('its .git has links that lead out of it');
}

/** With links followed; what is not there is where its name says. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const samePath = (one: string, other: string): boolean => real(one) === real(other);

/** What is not there is nowhere else. */
function isWithin(path: string, folder: string): boolean {
  if (!existsSync(path)) return true;
  const way = relative(real(folder), real(path));
  return !isAbsolute(way) && way.split(sep, 1)[0] !== '..';
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch {
    return '';
  }
}
