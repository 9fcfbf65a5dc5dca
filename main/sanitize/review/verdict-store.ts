/** Verdicts that were given, by the state of session and rules that they are about. They hold no value. */
import { CleanSummary } from '../../../contract/clean.js';
import type { Store } from '../../store/store.js';

export interface StoredVerdict {
  sessionId: string;
  key: string;
  summary: CleanSummary;
}
interface Row {
  sessionId: string;
  key: string;
  body: string;
}

/** Undefined: none, or one of another version of Tackroom. */
export function storedVerdict(store: Store, sessionId: string): StoredVerdict | undefined {
  return read(store.db.prepare('SELECT * FROM clean_verdict WHERE sessionId = ?').get(sessionId) as Row | undefined);
}

export function storedVerdicts(store: Store): Map<string, StoredVerdict> {
  const rows = store.db.prepare('SELECT * FROM clean_verdict').all() as Row[];
  return new Map(rows.flatMap((row) => read(row) ?? []).map((stored) => [stored.sessionId, stored]));
}

/** Of a session that was deleted meanwhile nothing is kept. */
export function keepVerdict(store: Store, { sessionId, key, summary }: StoredVerdict): void {
  store.db
    .prepare(
      `INSERT INTO clean_verdict (sessionId, key, verdict, body) SELECT @sessionId, @key, @verdict, @body
       WHERE EXISTS (SELECT 1 FROM session WHERE id = @sessionId)
       ON CONFLICT(sessionId) DO UPDATE SET key = excluded.key, verdict = excluded.verdict, body = excluded.body`,
    )
    .run({ sessionId, key, verdict: summary.verdict, body: JSON.stringify(summary) });
}

function read(row: Row | undefined): StoredVerdict | undefined {
  const summary = row && CleanSummary.safeParse(JSON.parse(row.body)).data;
  return row && summary && { sessionId: row.sessionId, key: row.key, summary };
}
