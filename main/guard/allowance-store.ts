/**
 * Allowances in the store. Only the hash of a call is kept: the call itself stays in its session, and goes with it when the
 * user deletes that.
 */
import type { Statement } from '../store/database.js';
import { newId } from '../store/ids.js';
import type { Store } from '../store/store.js';
import type { Allowance } from './allowances.js';

export interface StoredAllowance extends Allowance {
  id: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** Name of the tool. */
  tool: string;
  /** The verdict that the user answered, and its session; either may have been deleted since. */
  verdictId: string;
  sessionId: string;
}

const FIELDS = 'id, createdAt, rule, call, tool, verdictId, sessionId';

export class AllowanceStore {
  readonly #all: Statement;

  constructor(private readonly store: Pick<Store, 'db' | 'durably'>) {
    this.#all = store.db.prepare(`SELECT ${FIELDS} FROM guard_allowance ORDER BY createdAt DESC, id DESC`);
  }

  /** Newest first. */
  list(): StoredAllowance[] {
    return this.#all.all() as StoredAllowance[];
  }

  find({ rule, call }: Allowance): StoredAllowance | undefined {
    return this.store.db.prepare(`SELECT ${FIELDS} FROM guard_allowance WHERE rule = ? AND call = ?`).get(rule, call) as
      | StoredAllowance
      | undefined;
  }

  /** The one of this rule and call: it is there once, however often it is answered. */
  add(allowance: Omit<StoredAllowance, 'id' | 'createdAt'>): StoredAllowance {
    const made = { ...allowance, id: newId('allow'), createdAt: Date.now() };
    this.store.durably(() =>
      this.store.db
        .prepare(
          `INSERT INTO guard_allowance (${FIELDS}) VALUES (@id, @createdAt, @rule, @call, @tool, @verdictId, @sessionId)
           ON CONFLICT (rule, call) DO NOTHING`,
        )
        .run(made),
    );
    return this.find(allowance) ?? made;
  }

  /** The removed one; undefined: there is none with this id. */
  remove(id: string): StoredAllowance | undefined {
    return this.store.durably(
      () =>
        this.store.db.prepare(`DELETE FROM guard_allowance WHERE id = ? RETURNING ${FIELDS}`).get(id) as
          | StoredAllowance
          | undefined,
    );
  }
}
