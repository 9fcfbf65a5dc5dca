/** Finds the user's own harness and its version. */
import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Connector, Whose } from './connector.js';

const execute = promisify(execFile);
const VERSION_TIMEOUT_MS = 20_000;

export interface FoundHarness {
  path: string;
  /** null: it did not say. */
  version: string | null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export function onPath(command: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const dirs = (env.PATH ?? '').split(delimiter).filter((dir) => dir !== '');
  return dirs.map((dir) => join(dir, command)).find(isProgram) ?? null;
}

/** Where version managers look for what their shims start, unless a variable says so. */
const MANAGERS = {
  ASDF_DATA_DIR: '.asdf',
  MISE_DATA_DIR: '.local/share/mise',
  NVM_DIR: '.nvm',
  PYENV_ROOT: '.pyenv',
  VOLTA_HOME: '.volta',
} as const;

const managerHomes = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(MANAGERS).map(([name, dir]) => [name, env[name] ?? join(homedir(), dir)]));

/** Asked in a home of its own: even for its version a harness writes logs and caches, and hermes looks for updates. */
async function versionOf(file: string, whole: NodeJS.ProcessEnv): Promise<string | null> {
  const home = mkdtempSync(join(tmpdir(), 'tackroom-version-'));
  const own = { HOME: home, USERPROFILE: home, HERMES_HOME: home, TMPDIR: home, LANG: 'C.UTF-8', PI_OFFLINE: '1' };
  const env = { PATH: whole.PATH, ...managerHomes(whole), ...own };
  try {
    const { stdout, stderr } = await execute(file, ['--version'], { timeout: VERSION_TIMEOUT_MS, env, cwd: home });
    return /\d+\.\d+[\w.-]*/.exec(stdout || stderr)?.[0] ?? 'of an unknown version';
  } catch {
    return null;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** null: neither on the PATH nor where its installers put it. */
export async function findHarness(
  { name, programs }: Pick<Connector, 'name' | 'programs'>,
  { root, env }: Whose = { env: process.env },
): Promise<FoundHarness | null> {
  const home = root === undefined ? homedir() : resolve(root);
  const installed = (): string | undefined => programs.map((program) => join(home, program)).find(isProgram);
  // In another home what lies there comes first; in one's own what a shell would run.
  const path = (root !== undefined && installed()) || onPath(name, env) || installed() || null;
  return path === null ? null : { path, version: await versionOf(path, env) };
}
