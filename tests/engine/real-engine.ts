/** The engine process as it ships, from a bundle of its sources, on the built-in model. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorShape } from '../../contract/errors.js';
import { demoModelDir } from '../../main/services/paths.js';
import { type Bundle, bundle } from '../record/bundle.js';

export interface RealEngine {
  /** Its socket. */
  path: string;
  /** Registry of adapters. */
  adapters: string;
  pid: number;
  stop(): Promise<void>;
}

let built: Promise<Bundle> | undefined;

/** The line of an engine that does not start. */
export class NotStarted extends Error {
  constructor(readonly shape: ErrorShape) {
    super(shape.message);
  }
}

const firstLine = (child: ChildProcess, from: 'stdout' | 'stderr'): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    child[from]!.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.split('\n')[0]!);
    });
  });

/** Throws NotStarted with the error that the engine reports. */
export async function startRealEngine(args: string[] = [], modelDir = demoModelDir()): Promise<RealEngine> {
  built ??= bundle('main/engine/entry.ts');
  const { file } = await built;
  const home = mkdtempSync(join(tmpdir(), 'tackroom-engine-'));
  const path = join(home, 'engine.sock');
  const adapters = join(home, 'adapters');
  mkdirSync(adapters);
  const child = spawn(
    process.execPath,
    [file, '--model', modelDir, '--socket', path, '--adapters', adapters, '--threads', '2', ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    rmSync(home, { recursive: true, force: true });
  };
  const ready = await Promise.race([
    firstLine(child, 'stdout').then((line) => ({ line, good: true })),
    firstLine(child, 'stderr').then((line) => ({ line, good: false })),
  ]);
  if (!ready.good) {
    await stop();
    throw new NotStarted(JSON.parse(ready.line) as ErrorShape);
  }
  return { path, adapters, pid: child.pid!, stop };
}

export async function removeBundle(): Promise<void> {
  (await built)?.remove();
  built = undefined;
}
