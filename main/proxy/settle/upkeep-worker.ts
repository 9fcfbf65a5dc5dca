/** The thread of upkeep as the settling thread sees it. Without it requests are recorded all the same. */
import { Worker } from 'node:worker_threads';
import type { ToUpkeep } from './upkeep.js';

const RESTART_MS = 60_000;
/** Time to end a transaction and the programs it runs. */
const CLOSE_MS = 2_000;

export class UpkeepWorker {
  #worker: Worker;
  #restart: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(private readonly home: string) {
    this.#worker = this.#start();
  }

  tell(message: ToUpkeep): void {
    this.#worker.postMessage(message);
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    // One that has ended by itself says nothing more.
    if (worker.threadId === -1) return;
    this.tell({ kind: 'close' });
    const timer = setTimeout(() => void worker.terminate(), CLOSE_MS);
    await gone;
    clearTimeout(timer);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./upkeep-thread.js', import.meta.url), { workerData: { home: this.home } });
    worker.on('error', (error) => {
      const message = `Upkeep of the store ended: ${error instanceof Error ? error.message : String(error)}`;
      process.stderr.write(`${JSON.stringify({ level: 'error', message })}\n`);
    });
    worker.once('exit', () => {
      if (this.#closing) return;
      this.#restart = setTimeout(() => {
        this.#worker = this.#start();
      }, RESTART_MS);
      this.#restart.unref();
    });
    return worker;
  }
}
