// A checkout of the set-up's own scripts in a temporary folder, so that tests never touch the real build/.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Makes the folder; returns its path. */
export function scratchCheckout() {
  const root = mkdtempSync(join(tmpdir(), 'tackroom-setup-'));
  mkdirSync(join(root, 'scripts'), { recursive: true });
  cpSync(join(checkout, 'scripts', 'setup'), join(root, 'scripts', 'setup'), { recursive: true });
  cpSync(join(checkout, 'scripts', 'setup.mjs'), join(root, 'scripts', 'setup.mjs'));
  return root;
}

/** Runs Node.js on a script of the scratch checkout; `done` resolves with exit code and outputs, `output()` is stdout so far. */
export function runScript(root, file, args = [], env = {}) {
  const child = spawn(process.execPath, [join(root, file), ...args], { cwd: root, env: { ...process.env, ...env } });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const done = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, out, err })));
  return { child, done, output: () => out };
}

/** Writes a module into the scratch checkout and returns its relative path. */
export function writeModule(root, file, code) {
  writeFileSync(join(root, file), code);
  return file;
}
