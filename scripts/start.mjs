// `npm start`: the desktop app in Electron where its binary is there or can be fetched, else the same window in a browser.
// Usage: node scripts/start.mjs [--browser] [arguments of the app]
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './setup/paths.mjs';
import { electronBinary, fetchElectron, sqliteForElectron } from './start/electron.mjs';

/** Command and environment of the desktop app, or the sentence that says why there is none. */
async function desktop() {
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY)
    return 'there is no display';
  if (electronBinary() === null) {
    console.error('Fetching Electron (about 110 MB, at most a minute)...');
    await fetchElectron();
  }
  const binary = electronBinary();
  if (binary === null) return "Electron's binary could not be fetched";
  const binding = await sqliteForElectron(binary);
  if (binding === null) return 'SQLite could not be prepared for Electron';
  return { binary, env: { TACKROOM_SQLITE_BINDING: binding } };
}

function run(command, args, env = {}) {
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`${command} could not start: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('close', (code, signal) => {
    process.exitCode = code ?? (signal ? 1 : 0);
  });
}

const args = process.argv.slice(2);
const browser = args.includes('--browser');
const found = browser ? 'you asked for it' : await desktop();
if (typeof found === 'string') {
  console.error(`The window opens in your browser, because ${found}.`);
  const rest = args.filter((arg) => arg !== '--browser');
  run(process.execPath, [join(ROOT, 'bin', 'tackroom.mjs'), 'serve', '--open', ...rest]);
} else run(found.binary, [ROOT, ...args], found.env);
