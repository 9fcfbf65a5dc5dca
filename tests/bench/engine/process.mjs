/** Child processes of the benchmark: every measurement is a process of its own, under the ordinary scheduler or `chrt -r 1`. */
import { spawn, spawnSync } from 'node:child_process';

/** A side that needs longer is stuck at spinning barriers on a busy machine; its other settings count. */
const DEADLINE_MS = 3 * 60_000;

/** Whether this user may run programs under a real-time policy; ggml's spinning barriers need it on a shared machine. */
export const realtimeAllowed =
  process.platform === 'linux' && spawnSync('chrt', ['-r', '1', 'true'], { stdio: 'ignore' }).status === 0;

/** The policies in which both sides are measured; `quick` takes the one in which ggml is faster. */
export const policies = (quick = false) => (realtimeAllowed ? (quick ? ['chrt'] : ['chrt', 'default']) : ['default']);

/** Runs a program and returns its stdout; the exit codes of `accept` are no failure. The error carries the end of stderr. */
export function output(command, args, { policy = 'default', cwd, env, deadlineMs = DEADLINE_MS, accept = [0] } = {}) {
  const [program, ...rest] = policy === 'chrt' ? ['chrt', '-r', '1', command, ...args] : [command, ...args];
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: deadlineMs,
    });
    let stdout = '';
    let tail = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      tail = (tail + chunk).slice(-1500);
    });
    child.on('error', reject);
    child.on('close', (code, signal) =>
      accept.includes(code)
        ? resolve(stdout)
        : reject(
            new Error(
              `${command} (${signal === 'SIGTERM' ? `stopped after ${deadlineMs / 1000} s` : (signal ?? `exit ${code}`)}): ${tail.trim()}`,
            ),
          ),
    );
  });
}

/** The last line of a program's stdout as JSON. */
export async function json(command, args, options) {
  const lines = (await output(command, args, options)).trim().split('\n');
  return JSON.parse(lines.at(-1));
}
