/** What the guard found, newest first. */
import type { Harness, Origin, Session, ToolCall, Verdict } from '../../contract/records.js';
import type { Store } from '../store/store.js';

export interface LogFilter {
  verdict?: 'block' | 'suspicious' | undefined;
  rule?: string | undefined;
  harness?: Harness | undefined;
  sessionId?: string | undefined;
  /** Those of rollouts are many: only on demand. */
  rollouts?: boolean | undefined;
}

export interface LogEntry {
  verdict: Verdict;
  /** undefined: not on record. */
  call: ToolCall | undefined;
  session: Pick<Session, 'id' | 'title' | 'harness' | 'origin'>;
}

interface Row {
  verdict: string;
  call: string | null;
  session: string;
}

export function verdictLog(store: Store, filter: LogFilter, limit: number, offset = 0): LogEntry[] {
  const { sql, values } = conditions(filter);
  const rows = store.db
    .prepare(
      `SELECT v.data AS verdict, c.data AS call, s.data AS session
       FROM verdict v JOIN session s ON s.id = v.sessionId LEFT JOIN toolCall c ON c.id = v.toolCallId
       WHERE ${sql} ORDER BY v.createdAt DESC, v.id DESC LIMIT ? OFFSET ?`,
    )
    .all(...values, limit, offset) as Row[];
  return rows.map(({ verdict, call, session }) => ({
    verdict: JSON.parse(verdict) as Verdict,
    call: call === null ? undefined : (JSON.parse(call) as ToolCall),
    session: JSON.parse(session) as Session,
  }));
}

/** Rules that found something, the most frequent first. */
export function foundRules(store: Store, filter: LogFilter, limit: number): { rule: string; found: number }[] {
  const { sql, values } = conditions(filter);
  return store.db
    .prepare(
      `SELECT json_extract(v.data, '$.rule') AS rule, count(*) AS found
       FROM verdict v JOIN session s ON s.id = v.sessionId
       WHERE ${sql} GROUP BY rule ORDER BY found DESC, rule LIMIT ?`,
    )
    .all(...values, limit) as { rule: string; found: number }[];
}

/** `verdict <> 'allow'` as the index says it, so that it is used. */
function conditions({ verdict, rule, harness, sessionId, rollouts }: LogFilter): { sql: string; values: string[] } {
  const origin: Origin = 'rollout';
  const parts: [string, string | undefined][] = [
    ['v.verdict = ?', verdict],
    ["json_extract(v.data, '$.rule') = ?", rule],
    ['s.harness = ?', harness],
    ['v.sessionId = ?', sessionId],
    // Of one session whatever there is.
    ['s.origin <> ?', rollouts || sessionId !== undefined ? undefined : origin],
  ];
  const given = parts.filter((part): part is [string, string] => part[1] !== undefined);
  return {
    sql: ["v.verdict <> 'allow'", ...given.map(([condition]) => condition)].join(' AND '),
    values: given.map(([, value]) => value),
  };
}
