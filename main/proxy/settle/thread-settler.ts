/** The settling thread as the gateway sees it. */
import { Worker } from 'node:worker_threads';
import type { Origin, Request } from '../../../contract/records.js';
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
  /** The thread has opened the store; what is asked before waits for it. Rejects with what keeps it from starting. */
  readonly ready: Promise<void>;

  /**
   * `engine`: socket of the engine, which may judge. `onGone`: the thread ended by itself after it was ready; nothing can be recorded
   * any more.
   */
  constructor(home: string, engine: string, onGone: (cause: Error) => void) {
    this.#worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: { home, engine } });
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    let cause = new Error('The recording thread ended.');
    this.#worker.once('error', (error) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    let isReady = false;
    this.ready = new Promise((resolve, reject) => {
      this.#worker.once('message', () => {
        isReady = true;
        resolve();
      });
      this.#worker.once('exit', () => reject(cause));
    });
    this.ready.catch(() => undefined);
    this.#gone = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        for (const { reject } of this.#waiting.values()) reject(cause);
        this.#waiting.clear();
        if (isReady && !this.#closing) onGone(cause);
        resolve();
      });
    });
  }

  open(id: string, api: Api, body: Buffer, loopKey: string | null, origin: Origin): Promise<Opened> {
    // Small ones share their memory with others.
    const isAlone = body.byteLength === body.buffer.byteLength;
    return this.#call(
      (call) => ({ kind: 'open', call, id, api, body, loopKey, origin }),
      isAlone ? [body.buffer as ArrayBuffer] : [],
    );
  }

  check(id: string, input: Omit<GuardInput, 'request'>): Promise<CallVerdict[]> {
    return this.#call((call) => ({ kind: 'check', call, id, input }));
  }

  record(entry: Entry): Promise<Request | null> {
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

  /** `given`: memory that moves there. */
  #post(message: ToThread, given: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, given);
  }

  #call<T>(message: (call: number) => ToThread, given: readonly ArrayBuffer[] = []): Promise<T> {
    const call = this.#calls++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#post(message(call), given);
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
