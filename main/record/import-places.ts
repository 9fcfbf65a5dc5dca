/**
 * Where the conversations of an imported session end beyond its last answers, and which of its messages nobody typed: the
 * places of the tree of messages that belong to the session although no request names them.
 */
import type { MarkKind } from '../../contract/records.js';
import type { Store } from '../store/store.js';
import { collectNodes } from './delete-session.js';

export class ImportPlaces {
  readonly marks = new Map<string, MarkKind>();
  /** Places that something follows, and those that nothing followed so far, with the number of the next request. */
  readonly #followed = new Set<string>();
  readonly #ends = new Map<string, number>();
  /** Leaves that nothing may need any more, such as an answer that an earlier reading found half written. */
  readonly #stale: string[] = [];

  constructor(private readonly store: Store) {}

  /** A message at `node` came after `from`, before the request `seq`; empty: it is the first. */
  moved(from: string, node: string, seq: number): void {
    if (from !== '') this.#followed.add(from);
    this.#ends.delete(from);
    this.#ends.set(node, seq);
  }

  /** A request asked with `from` and was answered at `node`, which is no loose end. */
  answered(from: string, node: string): void {
    this.#followed.add(from);
    this.#ends.delete(node);
  }

  mayGo(node: string): void {
    this.#stale.push(node);
  }

  get hasEnds(): boolean {
    return this.#openEnds().length > 0;
  }

  /** What hangs on no request so far belongs to the session all the same: a kill must not leave it to nobody. */
  keepEnds(sessionId: string): void {
    for (const [node, seq] of this.#openEnds()) this.#put(sessionId, node, 'tail', seq);
  }

  /** Puts the places of this reading in the place of those of the earlier one, and removes what nothing needs any more. */
  finish(sessionId: string): void {
    this.#clear(sessionId);
    this.keepEnds(sessionId);
    for (const [node, kind] of this.marks) this.#put(sessionId, node, kind, 0);
    collectNodes(this.store, this.#stale);
  }

  /** The session is not to be: nothing of it stays that nobody else needs. */
  drop(sessionId: string): void {
    this.#clear(sessionId);
    collectNodes(this.store, [...this.#stale, ...this.#openEnds().map(([node]) => node)]);
  }

  #openEnds(): (readonly [string, number])[] {
    return [...this.#ends].filter(([node]) => !this.#followed.has(node));
  }

  #clear(sessionId: string): void {
    const { db } = this.store;
    const before = db.prepare("SELECT node FROM session_place WHERE sessionId = ? AND kind = 'tail'").pluck();
    this.#stale.push(...(before.all(sessionId) as string[]));
    db.prepare('DELETE FROM session_place WHERE sessionId = ?').run(sessionId);
  }

  #put(sessionId: string, node: string, kind: MarkKind | 'tail', seq: number): void {
    this.store.db
      .prepare('INSERT OR IGNORE INTO session_place (sessionId, node, kind, seq) VALUES (?, ?, ?, ?)')
      .run(sessionId, node, kind, seq);
  }
}
