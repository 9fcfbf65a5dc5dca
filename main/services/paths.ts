/** Where Tackroom keeps its state: everything lies under one home. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { packageRoot } from '../../native/addon.js';

/** `--home`, else TACKROOM_HOME, else the platform's data folder. */
export function defaultHome(option?: string): string {
  if (option) return resolve(option);
  if (process.env.TACKROOM_HOME) return resolve(process.env.TACKROOM_HOME);
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'tackroom');
  if (process.platform === 'win32') return join(process.env.APPDATA ?? homedir(), 'tackroom');
  return join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'tackroom');
}

export interface HomePaths {
  home: string;
  adapters: string;
  runs: string;
  tasks: string;
  rollouts: string;
  sockets: string;
}

/**
 * Makes a folder and those above it, private to the user. `mkdirSync` with `recursive` never returns where a file system
 * denies a new folder with ENOENT, as /proc does (Node 20).
 */
export function makeFolder(dir: string): void {
  if (existsSync(dir) && statSync(dir).isDirectory()) return;
  const above = dirname(dir);
  if (above !== dir) makeFolder(above);
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if (!existsSync(dir) || !statSync(dir).isDirectory()) throw error;
  }
}

/** Makes the folders of a home (private to the user). Socket paths must stay below 100 bytes, so a deep home uses a temporary folder for them. */
export function openHome(home: string): HomePaths {
  let sockets = join(home, 'run');
  if (Buffer.byteLength(sockets) > 70)
    sockets = join(tmpdir(), `tackroom-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`);
  const paths: HomePaths = {
    home,
    adapters: join(home, 'adapters'),
    runs: join(home, 'runs'),
    tasks: join(home, 'tasks'),
    rollouts: join(home, 'rollouts'),
    sockets,
  };
  for (const dir of Object.values(paths)) makeFolder(dir);
  return paths;
}

/** Compiled entry of a service, `dist/main/<path>`. */
export function serviceEntry(path: string): string {
  return join(packageRoot(), 'dist', 'main', path);
}

/** The demo model: completed by set-up with the installed pi's prompt lines. */
export function demoModelDir(): string {
  return join(packageRoot(), 'build', 'demo-model');
}

export function rendererDir(): string {
  const dir = join(packageRoot(), 'dist', 'renderer');
  return existsSync(dir) ? dir : join(packageRoot(), 'renderer');
}
