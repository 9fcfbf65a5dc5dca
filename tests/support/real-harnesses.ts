/** The real opencode and hermes that `scripts/install-harnesses.mjs` puts into `.harness`; pi is found by findPi. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const installed = (...path: string[]): string | null => {
  const file = join(checkout, '.harness', ...path);
  if (existsSync(file)) return file;
  if (process.env.TACKROOM_HARNESSES === '1')
    throw new Error(`${file} is missing: run npm run setup -- --for harnesses`);
  return null;
};

export const realOpencode = installed('opencode', 'node_modules', 'opencode-linux-x64', 'bin', 'opencode');
export const realHermes = installed('hermes', 'bin', 'hermes');
export const realPi = {
  node: installed('pi', 'node_modules', 'node', 'bin', 'node'),
  cli: installed('pi', 'node_modules', '@earendil-works', 'pi-coding-agent', 'dist', 'bundle', 'cli.js'),
};
/** For skipped tests: what is missing and what installs it. */
export const notInstalled = (name: string): string =>
  `the real ${name} is not installed (npm run harnesses installs it)`;

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a harness in a home of its own, without the caller's environment. Its stdin ends at once: open, it would wait. */
export function runHarness(
  command: string,
  args: string[],
  { cwd, env, stdin = '' }: { cwd: string; env: Record<string, string>; stdin?: string },
): Promise<Ran> {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', TERM: 'dumb', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  const ran: Ran = { code: null, stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      ran[name] += text;
    });
  child.stdin.on('error', () => undefined).end(stdin);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...ran, code }));
  });
}
