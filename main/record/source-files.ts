/** The files below a path, without following links, with the first bytes of each. */
import { closeSync, lstatSync, readdirSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { openSource } from '../harness/sessions/json-lines.js';
import { HEAD_BYTES, type Skip, type SourceFile } from '../harness/sessions/session-writer.js';

const ENDINGS = /\.(?:jsonl|json|db|sqlite|sqlite3)$/i;
/** Deeper folders are no harness's. */
const MAX_DEPTH = 64;

type SkipFile = (path: string, ...rest: Parameters<Skip>) => void;

/** Where `path` really lies. NOT_FOUND. */
export function sourceRoot(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new TackroomError('NOT_FOUND', `${path} cannot be read.`, 'Name a session file or a folder with some.', {
      cause,
    });
  }
}

/** `root` itself, or every file below it that may hold sessions, in order. */
export function* sourceFiles(root: string, skip: SkipFile): Generator<SourceFile> {
  if (!lstatSync(root).isDirectory()) {
    yield* sourceFile(root, skip);
    return;
  }
  const folders = [{ dir: root, depth: 0 }];
  for (let at = folders.pop(); at; at = folders.pop()) {
    const { dir, depth } = at;
    try {
      const entries = readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const entry of entries)
        if (entry.isFile() && ENDINGS.test(entry.name)) yield* sourceFile(join(dir, entry.name), skip);
      const below = entries.filter((entry) => entry.isDirectory()).map((entry) => join(dir, entry.name));
      if (depth < MAX_DEPTH) folders.push(...below.reverse().map((folder) => ({ dir: folder, depth: depth + 1 })));
    } catch (error) {
      skip(dir, null, `cannot be listed (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
    }
  }
}

function* sourceFile(path: string, skip: SkipFile): Generator<SourceFile> {
  let file: SourceFile;
  try {
    const fd = openSource(path);
    try {
      const { size, mtimeMs } = lstatSync(path);
      const buffer = Buffer.alloc(Math.min(HEAD_BYTES, size));
      const got = readSync(fd, buffer, 0, buffer.length, 0);
      file = { path, head: buffer.subarray(0, got), size, mtimeMs };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    skip(path, null, error instanceof Error ? error.message : String(error));
    return;
  }
  yield file;
}
