/** Runs a program without a shell, with a deadline and a bound on what it may print. */
import { spawn } from 'node:child_process';

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

/** Rejects when it cannot be started or takes too long, with a reason for a person. */
export function runProgram(file: string, args: readonly string[], limits: ProgramLimits): Promise<ProgramOutput> {
  const { cwd, env, maxBytes, timeoutMs, signal } = limits;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, signal, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'ignore'] });
    const parts: Buffer[] = [];
    let bytes = 0;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.stdout.on('data', (part: Buffer) => {
      if (bytes < maxBytes) parts.push(part);
      bytes += part.length;
      if (bytes > maxBytes) child.kill('SIGKILL');
    });
    child.once('error', (cause) => {
      clearTimeout(timer);
      reject(cause);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      if (late) reject(new Error(`it took longer than ${timeoutMs / 1000} s`));
      else resolve({ stdout: Buffer.concat(parts).subarray(0, maxBytes), clipped: bytes > maxBytes, code });
    });
  });
}
