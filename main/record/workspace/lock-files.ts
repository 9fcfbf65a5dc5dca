/** Hashes of the files in which package managers pin what a project uses. */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from '../../../contract/workspace.js';
import { openSource } from '../../harness/sessions/json-lines.js';

const NAMES = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'poetry.lock',
  'uv.lock',
  'pdm.lock',
  'Pipfile.lock',
  'Cargo.lock',
  'go.sum',
  'Gemfile.lock',
  'composer.lock',
  'flake.lock',
];
const MAX_BYTES = 64 * 1024 * 1024;

export async function lockFiles(dirs: readonly string[]): Promise<Workspace['locks']> {
  const found: Workspace['locks'] = [];
  for (const path of [...new Set(dirs)].flatMap((dir) => NAMES.map((name) => join(dir, name)))) {
    const lock = await hashOf(path);
    if (lock) found.push(lock);
  }
  return found;
}

/** undefined: it is not there, no ordinary file, or too large for a lock file. */
async function hashOf(path: string): Promise<Workspace['locks'][number] | undefined> {
  let fd: number;
  try {
    fd = openSource(path);
  } catch {
    return undefined;
  }
  const { size } = fstatSync(fd);
  if (size > MAX_BYTES) {
    closeSync(fd);
    return undefined;
  }
  const hash = createHash('sha256');
  // The stream closes the file, also when reading fails.
  for await (const part of createReadStream(path, { fd })) hash.update(part as Buffer);
  return { path, bytes: size, sha256: hash.digest('hex') };
}
