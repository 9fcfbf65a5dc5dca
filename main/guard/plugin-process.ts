/**
 * One plugin in its process. Every question has a deadline; a process that misses it, ends, or says too much is killed
 * and started again for the next question. The answer to a question that was not answered is null.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../native/addon.js';

export interface PluginLimits {
  /** For starting the process and running the module's top level. */
  startMs: number;
  /** For one question. */
  answerMs: number;
  /** Longest answer, in bytes. */
  answerBytes: number;
  /** Failures in a row after which it is not started again. */
  failures: number;
}
export const PLUGIN_LIMITS: PluginLimits = { startMs: 10_000, answerMs: 2000, answerBytes: 256 * 1024, failures: 20 };

const HEAP_MB = 128;

export class PluginProcess {
  #child: ChildProcess | null = null;
  #output = '';
  #waiting: { id: number; done: (text: string | null) => void } | null = null;
  #next = 0;
  #failures = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly source: string,
    private readonly limits: PluginLimits = PLUGIN_LIMITS,
  ) {}

  /** What the module lists, as JSON text; null when it could not be loaded. */
  describe(): Promise<string | null> {
    return this.#inTurn(() => this.#start());
  }

  /** What its rules say of the call in `json`; null when there was no answer. */
  look(json: string): Promise<string | null> {
    return this.#inTurn(async () => {
      if (!this.#child && (await this.#start()) === null) return null;
      return this.#ask({ json }, this.limits.answerMs);
    });
  }

  /** For good: whoever still waits, or asks later, gets no answer. */
  stop(): void {
    this.#stopped = true;
    const waiting = this.#waiting;
    this.#end();
    waiting?.done(null);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #start(): Promise<string | null> {
    if (this.#failures >= this.limits.failures) return null;
    this.#end();
    const [command, ...args] = await hostCommand();
    if (this.#stopped) return null;
    const child = spawn(command!, args, {
      stdio: ['pipe', 'pipe', 'ignore'],
      cwd: '/',
      env: { ELECTRON_RUN_AS_NODE: '1' },
      windowsHide: true,
    });
    this.#child = child;
    this.#output = '';
    // A process that is gone answers nothing: whoever waits is told, whichever event comes first.
    const gone = (): void => {
      if (this.#child === child) this.#fail();
    };
    child.on('error', gone).on('exit', gone);
    child.stdin?.on('error', gone);
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#read(child, chunk));
    return this.#ask({ source: this.source }, this.limits.startMs);
  }

  #ask(question: { source?: string; json?: string }, deadlineMs: number): Promise<string | null> {
    return new Promise((resolve) => {
      const id = this.#next++;
      const timer = setTimeout(() => this.#fail(), deadlineMs);
      this.#waiting = {
        id,
        done: (text) => {
          clearTimeout(timer);
          this.#waiting = null;
          resolve(text);
        },
      };
      this.#child?.stdin?.write(`${JSON.stringify({ id, ...question })}\n`);
    });
  }

  #read(child: ChildProcess, chunk: string): void {
    if (this.#child !== child) return;
    this.#output += chunk;
    if (this.#output.length > this.limits.answerBytes) this.#fail();
    const end = this.#output.indexOf('\n');
    if (end < 0 || !this.#waiting) return;
    const line = this.#output.slice(0, end);
    this.#output = this.#output.slice(end + 1);
    const text = answerTo(this.#waiting.id, line);
    if (text === null) this.#fail();
    else {
      this.#failures = 0;
      this.#waiting.done(text);
    }
  }

  #fail(): void {
    this.#failures++;
    const waiting = this.#waiting;
    this.#end();
    waiting?.done(null);
  }

  #end(): void {
    const child = this.#child;
    this.#child = null;
    child?.kill('SIGKILL');
    child?.stdin?.destroy();
    child?.stdout?.destroy();
  }
}

function answerTo(id: number, line: string): string | null {
  try {
    const answer = JSON.parse(line) as { id?: unknown; text?: unknown };
    return answer.id === id && typeof answer.text === 'string' ? answer.text : null;
  } catch {
    return null;
  }
}

/** Node with no right to files but the host script, to children, workers and addons; without a network where Linux lets us. */
export async function hostCommand(): Promise<string[]> {
  const host = join(packageRoot(), 'resources', 'guard', 'plugin-host.mjs');
  const known = process.allowedNodeEnvironmentFlags;
  const permission = known.has('--permission') ? '--permission' : '--experimental-permission';
  return [
    ...(await withoutNetwork()),
    process.execPath,
    permission,
    `--allow-fs-read=${host}`,
    '--experimental-vm-modules',
    '--disallow-code-generation-from-strings',
    `--max-old-space-size=${HEAP_MB}`,
    '--no-warnings',
    host,
  ];
}

let unshare: Promise<string[]> | undefined;

/** `unshare -rn`, which gives the process a network of its own with nothing in it, where this user may do so. */
function withoutNetwork(): Promise<string[]> {
  unshare ??= new Promise((resolve) => {
    if (process.platform !== 'linux') resolve([]);
    else
      execFile('unshare', ['-rn', 'true'], { timeout: 5000 }, (error) =>
        resolve(error === null ? ['unshare', '-rn', '--'] : []),
      );
  });
  return unshare;
}
