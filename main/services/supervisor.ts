/**
 * Starts a service process, waits until it says it is ready, starts it again when it dies. A service prints one JSON
 * line `{"ready":true,…}` on stdout, or one `{"code","message","hint"}` on stderr before it gives up, and ends by itself
 * when its parent goes (IPC disconnect). Under Electron the same entries run as utility processes (main/app/processes.ts).
 */
import { fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type ErrorShape, fromErrorShape, TackroomError } from '../../contract/errors.js';

export interface ServiceExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}
export interface ServiceProcess {
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ServiceExit>;
  kill(signal?: NodeJS.Signals): void;
}
export type SpawnService = (entry: string, args: string[], name: string) => ServiceProcess;

/** `entry` as a child process of this Node. */
export const forkService: SpawnService = (entry, args) => {
  const child = fork(entry, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] });
  return {
    pid: child.pid,
    stdout: child.stdout!,
    stderr: child.stderr!,
    exited: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
      child.once('error', () => resolve({ code: 1, signal: null }));
    }),
    kill: (signal) => void child.kill(signal),
  };
};

/** For service entries: calls `stop` when the parent goes or a stop signal arrives. */
export function onParentGone(stop: () => void): void {
  if (process.send) process.once('disconnect', stop);
  process.once('SIGTERM', stop);
  // The terminal sends Ctrl-C to the whole group; the parent decides when its services stop.
  process.on('SIGINT', () => undefined);
}

/** For service entries: the failure line that the supervisor turns into an error. */
export function reportFailure(shape: ErrorShape): never {
  process.stderr.write(`${JSON.stringify(shape)}\n`);
  process.exit(1);
}

export interface SupervisorOptions {
  name: string;
  entry: string;
  args: string[];
  spawn?: SpawnService;
  readyTimeoutMs?: number;
  /** Starts within one minute after which it gives up. */
  maxRestarts?: number;
  onRestart?: (exit: ServiceExit) => void;
  /** Each time it says that it is ready, the first time too. */
  onReady?: () => void;
  onGiveUp?: (error: TackroomError) => void;
  /** Lines of the service that are not part of the protocol. */
  onLog?: (line: string) => void;
}

function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let pending = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    pending += chunk;
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

const parseJson = (line: string): Record<string, unknown> | undefined => {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
};

const MOST_REFUSALS = 5;

export class Supervisor<Ready extends object = Record<string, unknown>> {
  #process: ServiceProcess | undefined;
  #stopping = false;
  /** Starts in a row that ended with a reason of its own. */
  #refused = 0;
  #starts: number[] = [];
  #ready: Promise<Ready> | undefined;

  constructor(private readonly options: SupervisorOptions) {}

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Resolves with the ready line of the current process. */
  start(): Promise<Ready> {
    this.#ready ??= this.#launch();
    return this.#ready;
  }

  /** SIGTERM, then SIGKILL after `graceMs`. */
  async stop(graceMs = 5000): Promise<void> {
    this.#stopping = true;
    const child = this.#process;
    if (!child) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await child.exited;
    clearTimeout(timer);
  }

  #launch(): Promise<Ready> {
    const { name, entry, args, spawn = forkService, readyTimeoutMs = 30_000 } = this.options;
    this.#starts.push(Date.now());
    const child = spawn(entry, args, name);
    this.#process = child;
    return new Promise<Ready>((resolve, reject) => {
      let ready = false;
      let failure: ErrorShape | undefined;
      const tail: string[] = [];
      const timer = setTimeout(() => {
        reject(
          new TackroomError(
            'DEADLINE',
            `The ${name} did not start within ${readyTimeoutMs / 1000} s.`,
            `Its last words: ${tail.at(-1) ?? 'none'}`,
          ),
        );
        child.kill('SIGKILL');
      }, readyTimeoutMs);
      eachLine(child.stdout, (line) => {
        const json = parseJson(line);
        if (json?.ready === true && !ready) {
          ready = true;
          clearTimeout(timer);
          resolve(json as Ready);
          this.options.onReady?.();
        } else this.options.onLog?.(line);
      });
      eachLine(child.stderr, (line) => {
        const json = parseJson(line);
        if (typeof json?.code === 'string' && typeof json.message === 'string') failure = json as unknown as ErrorShape;
        else tail.push(line.slice(0, 300));
        if (tail.length > 20) tail.shift();
        this.options.onLog?.(line);
      });
      void child.exited.then((exit) => {
        clearTimeout(timer);
        if (this.#stopping) return;
        if (!ready) {
          this.#ready = undefined;
          reject(
            failure
              ? fromErrorShape(failure)
              : new TackroomError(
                  'SERVICE_GONE',
                  `The ${name} ended before it was ready (${exit.signal ?? `exit code ${exit.code}`}).`,
                  tail.at(-1),
                ),
          );
          return;
        }
        this.#again(exit);
      });
    });
  }

  #again(exit: ServiceExit): void {
    const { name, maxRestarts = 20 } = this.options;
    const minuteAgo = Date.now() - 60_000;
    this.#starts = this.#starts.filter((at) => at > minuteAgo);
    if (this.#starts.length > maxRestarts) {
      this.options.onGiveUp?.(
        new TackroomError(
          'SERVICE_GONE',
          `The ${name} died ${this.#starts.length} times within a minute and is left stopped.`,
          'Start Tackroom again; if it happens once more, run `tackroom doctor`.',
        ),
      );
      return;
    }
    this.options.onRestart?.(exit);
    const delay = Math.min(2000, 50 * 2 ** (this.#starts.length - 1));
    setTimeout(() => {
      if (this.#stopping) return;
      this.#ready = this.#launch();
      this.#ready.then(
        () => {
          this.#refused = 0;
        },
        (error: unknown) => {
          if (this.#stopping) return;
          // It says itself why it cannot start (its model is gone, say): starting it for ever would only hide that.
          const reason = error instanceof TackroomError && error.code !== 'SERVICE_GONE' && error.code !== 'DEADLINE';
          this.#refused = reason ? this.#refused + 1 : 0;
          if (this.#refused >= MOST_REFUSALS) this.options.onGiveUp?.(error as TackroomError);
          else this.#again({ code: 1, signal: null });
        },
      );
    }, delay);
  }
}
