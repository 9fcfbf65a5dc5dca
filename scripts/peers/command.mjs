/** Runs the tools of `npm run bench:peers`, and keeps what a finished step left. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root, stamp } from './paths.mjs';

/** A failure with a sentence about what helps. */
export class PeerError extends Error {
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

/** Runs a program to its end and returns its stdout; the last lines of its output are in the error when it fails. */
export function run(command, args, { cwd = root, env = {}, hint } = {}) {
  return new Promise((resolve, reject) => {
    const tools = join(root, 'build', 'tools', 'bin');
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH}`, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let tail = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      tail = (tail + chunk).slice(-3000);
    });
    child.stderr.on('data', (chunk) => {
      tail = (tail + chunk).slice(-3000);
    });
    child.on('error', (error) =>
      reject(new PeerError(error.code === 'ENOENT' ? `${command} was not found.` : error.message, hint)),
    );
    child.on('close', (code, signal) =>
      code === 0
        ? resolve(stdout)
        : reject(new PeerError(`${command} failed (${signal ?? `exit ${code}`}):\n${tail.trim()}`, hint)),
    );
  });
}

/** True when the folder's stamp says exactly `content`. */
export function stamped(dir, content) {
  if (!existsSync(stamp(dir))) return false;
  return readFileSync(stamp(dir), 'utf8') === JSON.stringify(content);
}

export function writeStamp(dir, content) {
  mkdirSync(dir, { recursive: true });
  writeFileSync(stamp(dir), JSON.stringify(content));
}

/** Free bytes on the disk that holds `dir`. */
export function freeBytes(dir) {
  mkdirSync(dir, { recursive: true });
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}
