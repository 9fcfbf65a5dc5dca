/** Runs a harness as a process group with a deadline, and ends all of it. */
import { spawn } from 'node:child_process';
import type { Ran } from '../../support/real-harnesses.js';

export interface Command {
  command: string;
  args: string[];
  env: Record<string, string>;
  /** Its end of the input comes at once: open, a harness would wait for more. */
  stdin: string;
}

export interface Running {
  done: Promise<Ran & { late: boolean }>;
  signal(name: NodeJS.Signals): void;
}

/** The caller's environment does not reach it. `late`: it was killed at its deadline. */
export function startProgram({ command, args, env, stdin }: Command, cwd: string, deadlineMs: number): Running {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', TERM: 'dumb', SHELL: '/bin/bash', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // Gone already.
    }
  };
  const ran: Ran = { code: null, stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      ran[name] += text;
    });
  child.stdin.on('error', () => undefined).end(stdin);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    signal('SIGKILL');
  }, deadlineMs);
  const done = new Promise<Ran & { late: boolean }>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      // What it left running holds its output open.
      setTimeout(() => signal('SIGKILL'), 300);
      child.once('close', () => resolve({ ...ran, code, late }));
    });
  });
  return { done, signal };
}
