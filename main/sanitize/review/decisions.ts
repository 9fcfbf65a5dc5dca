/**
 * What the user decided about values: for one session, or for all. The values are private, so each decision is sealed; its key lies in
 * the vault. A session's own go with the session, also where nobody can open the vault.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../../contract/errors.js';
import { withLock } from '../../services/process-lock.js';
import { newId } from '../../store/ids.js';
import type { Store } from '../../store/store.js';
import { newKey, seal, unseal } from '../../vault/seal.js';
import type { Vault } from '../../vault/vault.js';

const value = z.string().min(1).max(20_000);
const family = z.string().min(1).max(80);

export const What = z.discriminatedUnion('do', [
  /** The value stays. */
  z.object({ do: z.literal('keep'), value, family: family.nullable() }),
  /** The value goes, wherever it stands; `partial`: inside words too. */
  z.object({ do: z.literal('redact'), name: family, value, partial: z.boolean() }),
  /** What a pattern finds goes. */
  z.object({ do: z.literal('pattern'), name: family, pattern: z.string().max(500) }),
  /** Sessions that hold it are not exported. */
  z.object({ do: z.literal('deny'), name: family, value }),
  /** All of this kind goes: what was kept of it, too, and nobody need look at it again. */
  z.object({ do: z.literal('kind'), family }),
  /** The user has looked at the session as it was then. */
  z.object({ do: z.literal('looked'), version: z.string().max(200) }),
]);
export type What = z.infer<typeof What>;

export interface Decision {
  id: string;
  /** null: all sessions. */
  sessionId: string | null;
  createdAt: number;
  what: What;
}
interface Row {
  id: string;
  sessionId: string;
  createdAt: number;
  body: Buffer;
}

const KEY_NAME = 'clean/decisions';
const LOCK_WAIT_MS = 10_000;
/** More would be a list of its own: such belong into a file of rules. */
const MAX_DECISIONS = 2000;
const contextOf = ({ id, sessionId }: Pick<Row, 'id' | 'sessionId'>): Buffer =>
  Buffer.from(`tackroom decision ${id} ${sessionId}`);

export class Decisions {
  constructor(
    private readonly store: Store,
    private readonly vault: Vault,
  ) {}

  /** Oldest first, those for all sessions before those of this one (null: the former only). Errors: those of the vault. */
  list(sessionId: string | null): Decision[] {
    const rows = this.#rows(sessionId);
    if (rows.length === 0) return [];
    const key = this.#key();
    if (!key) throw unreadable();
    return rows.map((row) => open(row, key));
  }

  /** Their names: what was decided stays the same as long as these do. */
  ids(sessionId: string | null): string[] {
    return this.#rows(sessionId).map(({ id }) => id);
  }

  /** On the disk when it returns. Errors: those of the vault, REFUSED when there are too many. */
  async add(sessionId: string | null, what: What): Promise<string> {
    const checked = What.parse(what);
    const key = await this.#madeKey();
    const row = { id: newId('dec'), sessionId: sessionId ?? '', createdAt: Date.now() };
    const body = seal(key, Buffer.from(JSON.stringify(checked)), contextOf(row));
    this.store.durably(() => {
      if (this.#rows(sessionId).length >= MAX_DECISIONS)
        throw new TackroomError(
          'REFUSED',
          `There are ${MAX_DECISIONS} decisions already.`,
          'Put values that are many into a file of rules: docs/sanitizer.md',
        );
      this.store.db
        .prepare('INSERT INTO clean_decision (id, sessionId, createdAt, body) VALUES (?, ?, ?, ?)')
        .run(row.id, row.sessionId, row.createdAt, body);
    });
    return row.id;
  }

  /** False: there is none of this name. */
  remove(id: string): boolean {
    this.store.db.pragma('secure_delete = ON');
    return this.store.durably(
      () => this.store.db.prepare('DELETE FROM clean_decision WHERE id = ?').run(id).changes > 0,
    );
  }

  /** All of one session, or those for all; also such that cannot be read any more. */
  forget(sessionId: string | null): number {
    this.store.db.pragma('secure_delete = ON');
    return this.store.durably(
      () => this.store.db.prepare('DELETE FROM clean_decision WHERE sessionId = ?').run(sessionId ?? '').changes,
    );
  }

  #rows(sessionId: string | null): Row[] {
    return this.store.db
      .prepare("SELECT * FROM clean_decision WHERE sessionId IN ('', ?) ORDER BY sessionId, createdAt, id")
      .all(sessionId ?? '') as Row[];
  }

  #key(): Buffer | null {
    const kept = this.vault.get(KEY_NAME);
    return kept === undefined ? null : Buffer.from(kept, 'base64');
  }

  #madeKey(): Promise<Buffer> {
    const lock = join(this.store.home, 'decisions.lock');
    return withLock(lock, { what: 'keeping a decision', waitMs: LOCK_WAIT_MS }, async () => {
      const kept = this.#key();
      if (kept) return kept;
      const key = newKey();
      await this.vault.put(KEY_NAME, key.toString('base64'));
      return key;
    });
  }
}

function open(row: Row, key: Buffer): Decision {
  try {
    const what = What.parse(JSON.parse(unseal(key, row.body, contextOf(row)).toString('utf8')));
    return { id: row.id, sessionId: row.sessionId || null, createdAt: row.createdAt, what };
  } catch (cause) {
    throw unreadable(cause);
  }
}

const unreadable = (cause?: unknown): TackroomError =>
  new TackroomError(
    'VAULT_DAMAGED',
    'What you decided about values cannot be read: the vault has another key than it was sealed with.',
    'Put back a copy of vault.bin, or forget the decisions on the Clean screen.',
    { cause },
  );
