/** Unix sockets of the rollout workers. The socket is the identity: no token, and one rollout at a time. */
import { chmodSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TackroomError } from '../../contract/errors.js';
import type { WorkerSession, WorkerSummary } from './protocol.js';
import { ProxyServer } from './proxy-server.js';
import { noRollout, Rollout } from './rollout.js';
import type { ProxyServices } from './services.js';

interface Worker {
  server: ProxyServer;
  rollout: Rollout | null;
}

export class Workers {
  readonly #workers = new Map<string, Worker>();
  #begun = 0;

  constructor(private readonly services: ProxyServices) {}

  names(): string[] {
    return [...this.#workers.keys()];
  }

  /** Listens at `path`; an old socket file is replaced. Mode 0666, because the sandbox runs as another user. */
  async open(worker: string, path: string): Promise<void> {
    if (this.#workers.has(worker)) throw new TackroomError('BAD_ARGUMENT', `The worker ${worker} is open already.`);
    const server = new ProxyServer(this.services, () => {
      const rollout = this.#workers.get(worker)?.rollout;
      if (!rollout) throw noRollout();
      return rollout;
    });
    this.#workers.set(worker, { server, rollout: null });
    try {
      rmSync(path, { force: true });
      await new Promise<void>((resolve, reject) => {
        server.http.once('error', reject);
        server.http.listen(path, resolve);
      });
      chmodSync(path, 0o666);
    } catch (error) {
      this.#workers.delete(worker);
      throw error;
    }
  }

  begin(session: WorkerSession): void {
    const worker = this.#worker(session.worker);
    if (worker.rollout)
      throw new TackroomError(
        'BUSY',
        `A rollout is open on the worker ${session.worker}.`,
        'End it with worker.end first.',
      );
    worker.rollout = new Rollout(session, `${session.worker}#${this.#begun++}`);
  }

  /** Takes no more requests, waits for the open ones at most `workerDrainMs`, cancels the rest, and sums up. */
  async end(name: string): Promise<WorkerSummary> {
    const worker = this.#worker(name);
    const { rollout } = worker;
    if (!rollout) throw new TackroomError('BAD_ARGUMENT', `No rollout is open on the worker ${name}.`);
    worker.rollout = null;
    const open = (): Promise<unknown> => Promise.all(worker.server.running(rollout));
    const stop = new AbortController();
    await Promise.race([
      open(),
      sleep(this.services.deadlines.workerDrainMs, undefined, { signal: stop.signal }).catch(() => undefined),
    ]);
    stop.abort();
    rollout.abort();
    await open();
    this.services.settler.releaseWorker(rollout.key);
    return rollout.summary(this.services.messages);
  }

  async close(name: string): Promise<void> {
    const worker = this.#worker(name);
    this.#workers.delete(name);
    await worker.server.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.names().map((name) => this.close(name)));
  }

  #worker(name: string): Worker {
    const worker = this.#workers.get(name);
    if (!worker) throw new TackroomError('NOT_FOUND', `There is no worker ${name}.`, 'Open it with worker.open.');
    return worker;
  }
}
