/**
 * What is known of every file at every moment of a session. A file's first full sight, when nothing touched it before,
 * is base content: it was there from the beginning. What an unresolved write leaves is unknown until seen in full again.
 */
import { posix } from 'node:path';
import { byCodePoint, sha256Hex } from './content-hash.js';

/** Content that cannot be told: why. */
export interface Unknown {
  unknown: 'shell_write' | 'unknown_files';
}
export const ABSENT = Symbol('absent');
export type FileState = string | Unknown | typeof ABSENT;

interface Change {
  /** Moment from which on it holds; -1: since before the session. */
  at: number;
  state: FileState;
}

/** Never part of a state: version control, caches, build results. */
const OUTSIDE = /(^|\/)(\.git|node_modules|__pycache__|\.pytest_cache|target|dist|build)(\/|$)|\.pyc$|\.o$/;

export class FileHistory {
  readonly #changes = new Map<string, Change[]>();

  /** `cwd`: absolute; paths outside of it are not followed. */
  constructor(readonly cwd: string) {}

  /** Path relative to the session's folder, or null for one outside of it. */
  relative(path: string, from = this.cwd): string | null {
    const full = posix.resolve(from, path);
    const relative = posix.relative(this.cwd, full);
    return relative === '' || relative.startsWith('..') || OUTSIDE.test(relative) ? null : relative;
  }

  set(path: string, at: number, state: FileState): void {
    const changes = this.#changes.get(path);
    if (changes) changes.push({ at, state });
    else this.#changes.set(path, [{ at, state }]);
  }

  /** The whole content was shown at moment `at`. */
  saw(path: string, at: number, content: string): void {
    const changes = this.#changes.get(path);
    if (!changes) this.set(path, -1, content);
    else if (this.at(path, at) !== content) this.set(path, at, content);
  }

  has(path: string): boolean {
    return this.#changes.has(path);
  }

  /** The file was there before the session and its content is not known. */
  existedUnseen(path: string): void {
    if (!this.#changes.has(path)) this.set(path, -1, { unknown: 'unknown_files' });
  }

  at(path: string, moment: number): FileState {
    return this.#changes.get(path)?.findLast((change) => change.at <= moment)?.state ?? ABSENT;
  }

  /** Known or unknown paths that exist at a moment. */
  pathsAt(moment: number): string[] {
    return [...this.#changes.keys()].filter((path) => this.at(path, moment) !== ABSENT);
  }

  /** Paths whose state is not the same at two moments. */
  changedBetween(from: number, to: number): string[] {
    return [...this.#changes.keys()].filter((path) => this.at(path, from) !== this.at(path, to)).sort(byCodePoint);
  }

  /** Paths something was done to after `from` and up to `to`. */
  touchedBetween(from: number, to: number): string[] {
    return [...this.#changes].filter(([, list]) => list.some(({ at }) => at > from && at <= to)).map(([path]) => path);
  }

  /** Files known at a moment, in path order. */
  stateAt(moment: number): Record<string, string> {
    const state: Record<string, string> = {};
    for (const path of [...this.#changes.keys()].sort(byCodePoint)) {
      const content = this.at(path, moment);
      if (typeof content === 'string') state[path] = content;
    }
    return state;
  }
}

/** sha256 over `path \0 sha256hex(content) \n`, sorted by path (design/cli.md). */
export function stateSha(state: Record<string, string>): string {
  return sha256Hex(
    Object.keys(state)
      .sort(byCodePoint)
      .map((path) => `${path}\0${sha256Hex(state[path]!)}\n`)
      .join(''),
  );
}
