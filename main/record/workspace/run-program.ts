/** Runs a program without a shell, with a deadline and a bound on what it may print. */
import { type ChildProcess, spawn } from 'node:child_process';

/** Windows has no groups; there it would get a console of its own. */
const OWN_GROUP = { detached: process.platform !== 'win32', windowsHide: true };

export interface ProgramOutput {
  stdout: Buffer;
  /** It printed more, and was stopped. */
  clipped: boolean;
  /** null: it was stopped. */
  code: number | null;
}

export interface ProgramLimits {
  cwd: string;
  env: NodeJS.ProcessEnv;
  maxBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Rejects when it cannot be started, takes too long or is no longer wanted, with a reason for a person. */
export function runProgram(file: string, args: readonly string[], limits: ProgramLimits): Promise<ProgramOutput> {
  const { cwd, env, maxBytes, timeoutMs, signal } = limits;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'], ...OWN_GROUP });
    const parts: Buffer[] = [];
    let bytes = 0;
    const output = (code: number | null): ProgramOutput => ({
      stdout: Buffer.concat(parts).subarray(0, maxBytes),
      clipped: bytes > maxBytes,
      code,
    });
    const cleanUp = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    // What it started may hold its output open for ever, so nothing is waited for.
    const stop = (): void => {
      cleanUp();
      child.stdout.destroy();
      killGroup(child);
      child.unref();
    };
    const abort = (): void => {
      stop();
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`it took longer than ${timeoutMs / 1000} s`));
    }, timeoutMs);
    signal.addEventListener('abort', abort);
    child.stdout.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes <= maxBytes) return;
      stop();
      resolve(output(null));
    });
    child.on('error', (cause) => {
      cleanUp();
      reject(cause);
    });
    child.once('close', (code) => {
      cleanUp();
      resolve(output(code));
    });
  });
}

/** With what it started. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (OWN_GROUP.detached) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // All of it has ended.
  }
}
