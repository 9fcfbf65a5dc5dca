/**
 * Content hash of a Harbor task folder, equal to the digest Harbor's own packager computes (formats.md 4.3): sha256 over
 * `path \0 sha256hex(content) \n` of every counted file, sorted by path. Neither names outside the known parts nor
 * editor leftovers count.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';

const SINGLE_FILES = ['task.toml', 'instruction.md', 'README.md'];
const FOLDERS = ['environment', 'tests', 'solution', 'steps'];
const IGNORED_FILE = /(\.pyc|\.swp|\.swo|~)$|^\.DS_Store$/;
const IGNORED_FOLDER = '__pycache__';

/** Hex sha256 of the task folder. UNSUPPORTED when the folder brings its own `.gitignore` rules. */
export function taskContentHash(dir: string): string {
  if (existsSync(join(dir, '.gitignore')))
    throw new TackroomError(
      'UNSUPPORTED',
      `The task folder ${dir} has a .gitignore, whose rules would change its hash.`,
      'Remove the ignored files and the .gitignore.',
    );
  const paths = SINGLE_FILES.filter((name) => existsSync(join(dir, name)));
  for (const folder of FOLDERS) if (existsSync(join(dir, folder))) collect(dir, folder, paths);
  const hash = createHash('sha256');
  for (const path of paths.sort(byCodePoint)) hash.update(`${path}\0${sha256Hex(readFileSync(join(dir, path)))}\n`);
  return hash.digest('hex');
}

export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Order of Python's `sorted` on str (UTF-16 order differs beyond the basic plane). */
export function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function collect(root: string, folder: string, into: string[]): void {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== IGNORED_FOLDER) collect(root, path, into);
    } else if (entry.isFile() && !IGNORED_FILE.test(entry.name)) into.push(path);
  }
}
