/** Finds the pi that Tackroom runs itself: the pinned copy of scripts/install-pi.mjs, with the Node.js it needs. */
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { packageRoot } from '../../native/addon.js';

export interface PiInstall {
  /** Folder with node_modules; mounted read-only as a whole. */
  root: string;
  /** Node.js 22.19 or later. */
  node: string;
  cli: string;
  version: string;
}

const PACKAGE = join('node_modules', '@earendil-works', 'pi-coding-agent');
const HINT = 'Run: node scripts/install-pi.mjs (or set TACKROOM_PI_DIR to a folder with pi and node in node_modules).';

/** TACKROOM_PI_DIR, else `.harness/pi`. Errors: HARNESS_MISSING. */
export async function findPi(
  dir = process.env.TACKROOM_PI_DIR ?? join(packageRoot(), '.harness', 'pi'),
): Promise<PiInstall> {
  const cli = join(dir, PACKAGE, 'dist', 'bundle', 'cli.js');
  const node = join(dir, 'node_modules', 'node', 'bin', 'node');
  for (const file of [cli, node])
    if (!existsSync(file))
      throw new TackroomError('HARNESS_MISSING', `pi is not installed (${file} is missing).`, HINT);
  const manifest = JSON.parse(readFileSync(join(dir, PACKAGE, 'package.json'), 'utf8')) as { version?: unknown };
  if (typeof manifest.version !== 'string')
    throw new TackroomError('HARNESS_MISSING', `The pi in ${dir} has no version.`, HINT);
  return { root: dir, node, cli, version: manifest.version };
}

/** Path of `file` (under `install.root`) where the install is mounted at `mount`. */
export function insidePath(install: PiInstall, file: string, mount: string): string {
  const path = relative(install.root, file);
  if (path.startsWith('..') || isAbsolute(path))
    throw new TackroomError('BAD_ARGUMENT', `${file} does not belong to the pi install in ${install.root}.`);
  return join(mount, path);
}
