/** N rollout workers that take jobs from one queue. */
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { PiInstall } from '../harness/find-pi.js';
import { PiWorker } from '../harness/pi.js';
import type { SandboxDriver, SandboxLimits } from '../sandbox/sandbox.js';
import type { RolloutJob, RolloutResult } from './protocol.js';
import { runRollout, type UnscoredReason } from './run-rollout.js';
import { harborScorer, type Scorer } from './scorer.js';
import { type GatewayClient, WorkerSocket } from './worker-socket.js';

export interface RolloutPoolOptions {
  /** How many rollouts run at a time, each in a sandbox of its own. */
  workers: number;
  gateway: GatewayClient;
  driver: SandboxDriver;
  pi: PiInstall;
  /** Of the home (main/services/paths.ts): scratch folders, and sockets (a short path). */
  paths: { rollouts: string; sockets: string };
  /** Default: Harbor task folders. */
  scorer?: Scorer;
  limits?: SandboxLimits;
}

export interface PoolRunOptions {
  /** Called once per job, in the order in which they end. Its errors end the run. */
  onResult: (result: RolloutResult) => void | Promise<void>;
  signal?: AbortSignal;
}

export interface PoolSummary {
  done: number;
  /** Rollouts without a score, by the part that failed. */
  unscored: Partial<Record<UnscoredReason, number>>;
}

interface Slot {
  worker: PiWorker;
  socket: WorkerSocket;
  /** Something ran in it since it was last made as new. */
  used: boolean;
}

let pools = 0;

export class RolloutPool {
  #running = false;

  private constructor(
    private readonly options: RolloutPoolOptions,
    private readonly slots: Slot[],
  ) {}

  /** Starts all workers. Errors: NO_SANDBOX, SERVICE_GONE with what pi said; nothing is left running then. */
  static async create(options: RolloutPoolOptions): Promise<RolloutPool> {
    const pool = ++pools;
    const starts = Array.from({ length: options.workers }, async (_, index): Promise<Slot> => {
      const name = `r${process.pid}-${pool}-${index}`;
      const socket = new WorkerSocket(options.gateway, name, options.paths.sockets);
      const { driver, pi, limits } = options;
      const dir = join(options.paths.rollouts, name);
      const worker = await PiWorker.start({ name, driver, pi, limits, dir, socketDir: socket.dir });
      return { worker, socket, used: false };
    });
    const settled = await Promise.allSettled(starts);
    const slots = settled.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const made = new RolloutPool(options, slots);
    const failed = settled.find((start) => start.status === 'rejected');
    if (failed) {
      await made.close();
      throw failed.reason;
    }
    return made;
  }

  get workers(): number {
    return this.slots.length;
  }

  /**
   * Runs all jobs. A rollout that fails is a result without a score; the workers go on.
   * Errors: CANCELLED when `signal` fires (rollouts that were under way are dropped), SERVICE_GONE when a worker cannot
   * be brought back, BUSY when the pool already runs.
   */
  async run(jobs: Iterable<RolloutJob> | AsyncIterable<RolloutJob>, options: PoolRunOptions): Promise<PoolSummary> {
    if (this.#running) throw new TackroomError('BUSY', 'The rollout pool is already at work.');
    this.#running = true;
    const summary: PoolSummary = { done: 0, unscored: {} };
    const failure = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, failure.signal]) : failure.signal;
    const queue = Symbol.asyncIterator in jobs ? jobs[Symbol.asyncIterator]() : jobs[Symbol.iterator]();
    try {
      const lanes = this.slots.map(async (slot) => {
        try {
          await this.#work(slot, queue, { ...options, signal }, summary);
        } catch (error) {
          failure.abort();
          throw error;
        }
      });
      const ends = await Promise.allSettled(lanes);
      if (options.signal?.aborted) throw new TackroomError('CANCELLED', 'The rollouts were cancelled.');
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed) throw failed.reason;
      return summary;
    } finally {
      this.#running = false;
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      this.slots.map(async ({ worker, socket }) => {
        await worker.close();
        await socket.close();
      }),
    );
  }

  async #work(
    slot: Slot,
    queue: Iterator<RolloutJob> | AsyncIterator<RolloutJob>,
    options: PoolRunOptions & { signal: AbortSignal },
    summary: PoolSummary,
  ): Promise<void> {
    const { driver, scorer = harborScorer } = this.options;
    while (!options.signal.aborted) {
      const next = await queue.next();
      if (next.done) return;
      if (slot.used) await slot.worker.reset();
      slot.used = true;
      const { result, unscored } = await runRollout(next.value, { ...slot, driver, scorer }, options.signal);
      if (options.signal.aborted) return;
      summary.done++;
      if (unscored) summary.unscored[unscored] = (summary.unscored[unscored] ?? 0) + 1;
      await options.onResult(result);
    }
  }
}
