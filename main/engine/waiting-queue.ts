/**
 * Requests that wait for a place: bounded, first come first served within a class, the user's own requests before
 * rollouts. Each waits under a deadline and leaves at once when it is cancelled.
 */
import { TackroomError } from '../../contract/errors.js';

/** The user's agent, or a rollout of a training run. */
export type Priority = 'interactive' | 'rollout';

/** A rollout counts as this much younger than it is, so it goes after the user's requests but does not wait for ever. */
const ROLLOUT_HANDICAP_MS = 30_000;

export interface Waiting {
  readonly priority: Priority;
  readonly signal: AbortSignal | undefined;
  /** performance.now() at which it came. */
  readonly arrivedAt: number;
  reject(error: Error): void;
}

interface Entry<T> {
  item: T;
  rank: number;
  stop(): void;
}

export const cancelled = (): TackroomError => new TackroomError('CANCELLED', 'The request was cancelled.');

export class WaitingQueue<T extends Waiting> {
  /** By rank, next one first. */
  #entries: Entry<T>[] = [];

  constructor(
    private readonly maxQueued: number,
    private readonly deadlineMs: number,
  ) {}

  get size(): number {
    return this.#entries.length;
  }

  /** Wait of the one that waits longest, milliseconds; 0 when nobody waits. */
  oldestMs(now: number): number {
    return this.#entries.reduce((oldest, { item }) => Math.max(oldest, now - item.arrivedAt), 0);
  }

  /** Throws BUSY when it is full, CANCELLED when the caller has left already. */
  push(item: T): void {
    if (item.signal?.aborted) throw cancelled();
    if (this.#entries.length >= this.maxQueued)
      throw new TackroomError(
        'BUSY',
        `The engine is overloaded: ${this.#entries.length} requests wait already.`,
        'Send it again in a moment.',
      );
    const entry: Entry<T> = {
      item,
      rank: item.arrivedAt + (item.priority === 'rollout' ? ROLLOUT_HANDICAP_MS : 0),
      stop: () => undefined,
    };
    const leave = (error: TackroomError): void => {
      this.#take(entry);
      item.reject(error);
    };
    const onAbort = (): void => leave(cancelled());
    const timer = setTimeout(
      () =>
        leave(
          new TackroomError(
            'DEADLINE',
            `The request waited ${Math.round(this.deadlineMs / 1000)} s for a place in the engine.`,
            'The engine is busy; send it again later.',
          ),
        ),
      this.deadlineMs,
    );
    item.signal?.addEventListener('abort', onAbort, { once: true });
    entry.stop = () => {
      clearTimeout(timer);
      item.signal?.removeEventListener('abort', onAbort);
    };
    const at = this.#entries.findIndex(({ rank }) => rank > entry.rank);
    this.#entries.splice(at < 0 ? this.#entries.length : at, 0, entry);
  }

  peek(): T | undefined {
    return this.#entries[0]?.item;
  }

  shift(): T | undefined {
    const first = this.#entries[0];
    if (first) this.#take(first);
    return first?.item;
  }

  #take(entry: Entry<T>): void {
    entry.stop();
    const at = this.#entries.indexOf(entry);
    if (at >= 0) this.#entries.splice(at, 1);
  }
}
