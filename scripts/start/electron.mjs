// Electron for a checkout: its binary, and SQLite compiled for it. Both come from the network the first time.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD, ROOT } from '../setup/paths.mjs';

const FETCH_DEADLINE_MS = 60_000;
const COMPILE_DEADLINE_MS = 10 * 60_000;
const packageDir = join(ROOT, 'node_modules', 'electron');

/** Absolute path of Electron's binary, or null when it was never fetched. */
export function electronBinary() {
  const name = join(packageDir, 'path.txt');
  if (!existsSync(name)) return null;
  const file = join(packageDir, 'dist', readFileSync(name, 'utf8').trim());
  return existsSync(file) ? file : null;
}

/** Runs a command quietly; resolves with whether it succeeded in time. */
function succeeds(command, args, { cwd = ROOT, env = {}, deadlineMs }) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'ignore', timeout: deadlineMs });
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}

/** Fetches the binary with Electron's own installer; false when that fails or takes longer than a minute. */
export function fetchElectron() {
  return succeeds(process.execPath, [join(packageDir, 'install.js')], { deadlineMs: FETCH_DEADLINE_MS });
}

/**
 * better-sqlite3 for Electron's ABI, beside the one for Node.js, which the command line goes on using. Resolves with
 * the file that the app's TACKROOM_SQLITE_BINDING takes, or null when it can be neither fetched nor compiled.
 */
export async function sqliteForElectron(electron) {
  const { version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
  const dir = join(BUILD, `sqlite-electron-${version}`);
  const file = join(dir, 'build', 'Release', 'better_sqlite3.node');
  const loads = () => {
    const code = `process.dlopen({exports: {}}, ${JSON.stringify(file)})`;
    const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
    return existsSync(file) && spawnSync(electron, ['-e', code], { env, timeout: 20_000 }).status === 0;
  };
  if (loads()) return file;
  rmSync(dir, { recursive: true, force: true });
  cpSync(join(ROOT, 'node_modules', 'better-sqlite3'), dir, { recursive: true });
  rmSync(join(dir, 'build'), { recursive: true, force: true });
  const npx = (args, deadlineMs) => succeeds('npx', args, { cwd: dir, deadlineMs });
  const fetched = await npx(['prebuild-install', '--runtime', 'electron', '--target', version], FETCH_DEADLINE_MS);
  if (!fetched) {
    const target = [`--target=${version}`, '--runtime=electron', '--dist-url=https://electronjs.org/headers'];
    await npx(['node-gyp', 'rebuild', '--release', ...target], COMPILE_DEADLINE_MS);
  }
  return loads() ? file : null;
}
