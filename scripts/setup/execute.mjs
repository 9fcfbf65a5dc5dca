// Runs one command of a step: output into the step's log, a deadline, and no process left behind.
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { stepEnvironment } from './environment.mjs';
import { LOGS, logFile, ROOT, WINDOWS } from './paths.mjs';

const TAIL_LINES = 30;
const KILL_GRACE_MS = 5_000;
const children = new Set();

/** Ends a child and everything it started. */
function killTree(child, signal) {
  try {
    if (WINDOWS) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It is gone already.
  }
}

/** Ends every command that still runs; for Ctrl-C and termination. */
export function killAll() {
  for (const child of children) killTree(child, 'SIGTERM');
}

/** The last lines of a step's log. */
export function logTail(step) {
  return readFileSync(logFile(step), 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}

/**
 * Runs `command` in the checkout. `until` is the step's deadline (Unix ms). Rejects with one sentence when the command
 * cannot start, fails, or is not done in time.
 */
export function execute(step, command, args, { until, env = {} }) {
  mkdirSync(LOGS, { recursive: true });
  const shown = [command, ...args].join(' ');
  appendFileSync(logFile(step), `$ ${shown}\n`);
  const log = openSync(logFile(step), 'a');
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...stepEnvironment(), ...env },
    stdio: ['ignore', log, log],
    detached: !WINDOWS,
    shell: WINDOWS,
  });
  closeSync(log);
  children.add(child);
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(
      () => {
        late = true;
        killTree(child, 'SIGTERM');
        setTimeout(() => killTree(child, 'SIGKILL'), KILL_GRACE_MS).unref();
      },
      Math.max(0, until - Date.now()),
    );
    const done = (settle) => {
      clearTimeout(timer);
      children.delete(child);
      settle();
    };
    child.on('error', (error) => done(() => reject(new Error(`\`${shown}\` could not start: ${error.message}.`))));
    child.on('close', (code, signal) =>
      done(() => {
        if (late) reject(new Error(`\`${shown}\` was not done by its deadline and was stopped.`));
        else if (code === 0) resolve();
        else reject(new Error(`\`${shown}\` failed (${signal ?? `exit ${code}`}).`));
      }),
    );
  });
}
