/**
 * A write that takes long, as a row of transactions: the database has one writer at a time, and a gateway that records beside it
 * must not wait for the end. What is committed in between has to be of use by itself, or be written again by the next try.
 */
import type { Database } from '../store/database.js';

/** A writer that waits tries again after 1, 2, 5, 10, 15, 20, 25, 25, 25 and 50 ms: it meets the pause after such a batch. */
const BATCH_MS = 140;
const PAUSE_MS = 55;

export class Batches {
  #began = 0;
  /** Something is committed. */
  committed = false;

  /** `isShared`: whether somebody else may want to write. */
  constructor(
    private readonly db: Database,
    private readonly isShared: () => boolean,
  ) {}

  begin(): void {
    this.db.exec('BEGIN IMMEDIATE');
    this.#began = performance.now();
  }

  get due(): boolean {
    return performance.now() - this.#began >= BATCH_MS;
  }

  /** Commits, lets others write, and goes on. */
  next(): void {
    this.end();
    if (this.isShared()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    this.begin();
  }

  end(): void {
    this.db.exec('COMMIT');
    this.committed = true;
  }

  /** Takes back what is not committed. */
  rollBack(): void {
    // A full disk may have done so already.
    if (this.db.inTransaction) this.db.exec('ROLLBACK');
  }
}
