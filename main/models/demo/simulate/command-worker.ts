import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { packageRoot } from '../../../../native/addon.js';

export type Files = Record<string, string>;

export interface CommandResult {
  output: string;
  files: Files;
}

type PipedChild = ChildProcessByStdio<Writable, Readable, null>;

const MAX_CACHED = 20_000;

/** Runs shell commands on files in memory, in a Python process of its own. Equal commands on equal files run once. */
export class CommandWorker {
  private readonly child: PipedChild;
  private readonly waiting: ((result: CommandResult) => void)[] = [];
  private readonly cache = new Map<string, Promise<CommandResult>>();

  constructor() {
    const script = join(packageRoot(), 'scripts', 'demo-model', 'command-worker.py');
    // The interpreter itself, not a version manager's start script: that would cost more than most commands.
    const python = execFileSync('python3', ['-c', 'import sys;print(sys.executable)'], { encoding: 'utf8' }).trim();
    const path = `${dirname(python)}:${process.env.PATH ?? ''}`;
    this.child = spawn(python, ['-I', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: path, LC_ALL: 'C' },
    });
    createInterface({ input: this.child.stdout }).on('line', (line) =>
      this.waiting.shift()?.(JSON.parse(line) as CommandResult),
    );
  }

  run(files: Files, command: string): Promise<CommandResult> {
    const request = JSON.stringify({ files, command });
    let result = this.cache.get(request);
    if (!result) {
      result = new Promise((resolve) => this.waiting.push(resolve));
      this.child.stdin.write(`${request}\n`);
      if (this.cache.size >= MAX_CACHED) this.cache.clear();
      this.cache.set(request, result);
    }
    return result;
  }

  close(): void {
    this.child.stdin.end();
  }
}
