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
  const { from, sql, values } = conditions(filter);
  const rows = store.db
    .prepare(
      `SELECT v.data AS verdict, c.data AS call, s.data AS session
       FROM ${from} LEFT JOIN toolCall c ON c.id = json_extract(v.data, '$.toolCallId')
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
  const { from, sql, values } = conditions(filter);
  return store.db
    .prepare(
      `SELECT json_extract(v.data, '$.rule') AS rule, count(*) AS found
       FROM ${from}
       WHERE ${sql} GROUP BY rule ORDER BY found DESC, rule LIMIT ?`,
    )
    .all(...values, limit) as { rule: string; found: number }[];
}

/** Without statistics the planner would read every verdict of every session: the index of findings is named. */
function conditions(filter: LogFilter): { from: string; sql: string; values: string[] } {
  const { verdict, rule, harness, sessionId, rollouts } = filter;
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
  const index = sessionId === undefined ? 'INDEXED BY verdict_found' : '';
  return {
    from: `verdict v ${index} CROSS JOIN session s ON s.id = v.sessionId`,
    sql: ["v.verdict <> 'allow'", ...given.map(([condition]) => condition)].join(' AND '),
    values: given.map(([, value]) => value),
  };
}
