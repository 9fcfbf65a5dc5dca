/** The settling thread as the gateway sees it. */
import { Worker } from 'node:worker_threads';
import type { Request } from '../../../contract/records.js';
import type { Api } from '../dialects/dialect.js';
import { HttpError } from '../http-error.js';
import type { CallVerdict, GuardInput } from '../services.js';
import type { FromThread, ToThread } from './messages.js';
import type { Entry, Opened, Settler } from './settler.js';

interface Waiting {
  resolve(result: never): void;
  reject(cause: Error): void;
}

export class ThreadSettler implements Settler {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #closing = false;
  readonly #gone: Promise<void>;

  /** `onGone`: the thread ended by itself; nothing can be recorded any more. */
  private constructor(worker: Worker, onGone: (cause: Error) => void) {
    this.#worker = worker;
    worker.on('message', (message: FromThread) => this.#hear(message));
    let cause = new Error('The recording thread ended.');
    worker.once('error', (error) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    this.#gone = new Promise((resolve) => {
      worker.once('exit', () => {
        for (const { reject } of this.#waiting.values()) reject(cause);
        this.#waiting.clear();
        if (!this.#closing) onGone(cause);
        resolve();
      });
    });
  }

  /** Resolves when the thread has opened the store of `home`. */
  static async start(home: string, onGone: (cause: Error) => void): Promise<ThreadSettler> {
    const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: { home } });
    await new Promise<void>((resolve, reject) => {
      worker.once('message', () => {
        worker.off('error', reject);
        resolve();
      });
      worker.once('error', reject);
    });
    return new ThreadSettler(worker, onGone);
  }

  open(id: string, api: Api, body: Buffer, loopKey: string | null): Promise<Opened> {
    return this.#call((call) => ({ kind: 'open', call, id, api, body, loopKey }));
  }

  check(id: string, input: Omit<GuardInput, 'request'>): Promise<CallVerdict[]> {
    return this.#call((call) => ({ kind: 'check', call, id, input }));
  }

  record(entry: Entry): Promise<Request> {
    return this.#call((call) => ({ kind: 'record', call, entry }));
  }

  releaseWorker(workerKey: string): void {
    this.#post({ kind: 'release', workerKey });
  }

  /** Commits what is waiting. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#post({ kind: 'close' });
    await this.#gone;
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #call<T>(message: (call: number) => ToThread): Promise<T> {
    const call = this.#calls++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#post(message(call));
    });
  }

  #hear(message: FromThread): void {
    if (message.kind === 'ready') return;
    const waiting = this.#waiting.get(message.call);
    this.#waiting.delete(message.call);
    if (message.kind === 'done') waiting?.resolve(message.result as never);
    else waiting?.reject(errorFrom(message));
  }
}

function errorFrom({ message, code, status }: Extract<FromThread, { kind: 'failed' }>): Error {
  if (status !== null) return new HttpError(status, code ?? 'INTERNAL', message);
  return Object.assign(new Error(message), code === null ? {} : { code });
}
