/** One thread that looks at sessions, as the window's server sees it: asked one thing at a time, with a deadline, and gone when it is cancelled. */
import { Worker } from 'node:worker_threads';
import type { CleanPhase } from '../../contract/clean-calls.js';
import { fromErrorShape, TackroomError } from '../../contract/errors.js';
import { serviceEntry } from '../services/paths.js';
import type { FromThread, ThreadCall, ThreadCalls, ToThread } from './clean-protocol.js';

export interface Progress {
  phase: CleanPhase;
  done: number;
  total: number;
}
interface OpenCall {
  settle(output: unknown): void;
  fail(error: Error): void;
  timer: NodeJS.Timeout;
}

export class CleanWorker {
  readonly #worker: Worker;
  readonly #open = new Map<number, OpenCall>();
  #next = 1;
  #ended: TackroomError | null = null;
  progress: Progress = { phase: 'start', done: 0, total: 1 };

  constructor(home: string) {
    this.#worker = new Worker(serviceEntry('window/clean-thread.js'), { workerData: { home } });
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    this.#worker.on('error', (error) =>
      this.end(
        /memory/i.test(String(error))
          ? new TackroomError('OUT_OF_MEMORY', 'There is not enough memory to look at this session.')
          : new TackroomError('SERVICE_GONE', 'What looks at sessions ended.', 'Try again.', { cause: error }),
      ),
    );
    this.#worker.once('exit', () => this.end(gone()));
  }

  get ended(): boolean {
    return this.#ended !== null;
  }

  /** Errors: those of the thread, DEADLINE, CANCELLED, SERVICE_GONE. */
  ask<C extends ThreadCall>(
    name: C,
    input: ThreadCalls[C]['input'],
    deadlineMs: number,
  ): Promise<ThreadCalls[C]['output']> {
    if (this.#ended) return Promise.reject(this.#ended);
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      const late = (): void =>
        this.end(
          new TackroomError(
            'DEADLINE',
            `Looking at the session took longer than ${Math.round(deadlineMs / 1000)} s and was ended.`,
            'Try again when the machine is less busy.',
          ),
        );
      const timer = setTimeout(late, deadlineMs);
      timer.unref();
      this.#open.set(call, { settle: resolve as OpenCall['settle'], fail: reject, timer });
      this.#worker.postMessage({ call, name, input } as ToThread);
    });
  }

  /** Whatever it does is not finished. */
  end(reason: TackroomError = new TackroomError('CANCELLED', 'Looking at the session was cancelled.')): void {
    if (this.#ended) return;
    this.#ended = reason;
    for (const { timer, fail } of this.#open.values()) {
      clearTimeout(timer);
      fail(reason);
    }
    this.#open.clear();
    void this.#worker.terminate();
  }

  #hear(message: FromThread): void {
    if ('phase' in message) {
      this.progress = message;
      return;
    }
    const open = this.#open.get(message.call);
    if (!open) return;
    this.#open.delete(message.call);
    clearTimeout(open.timer);
    if ('error' in message) open.fail(fromErrorShape(message.error));
    else open.settle(message.output);
  }
}

const gone = (): TackroomError => new TackroomError('SERVICE_GONE', 'What looks at sessions ended.', 'Try again.');
