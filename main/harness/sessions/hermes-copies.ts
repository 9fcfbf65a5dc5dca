/**
 * Compaction in hermes happens in place: old rows stay, marked, and what is kept (first question, summary, last turns) is
 * inserted again. This tells the copies from new turns: a run of rows that were said before, or that were written at
 * one moment, with a summary or a repeated call in it.
 */
import { createHash } from 'node:crypto';
import { isSummary, rowCalls, rowText } from './hermes-rows.js';
import type { Row } from './sqlite-source.js';

/** Copies are written within microseconds of each other; a turn takes longer. */
const ONE_MOMENT_S = 0.001;

export interface Turn {
  row: Row;
  /** Set for the first row of what a compaction kept. */
  restarts: boolean;
  copy: boolean;
}

/** `continues`: the session goes on with a compacted one, so it may begin with copies. */
export function* withoutCopies(rows: Iterable<Row>, compacted: boolean, continues: boolean): Generator<Turn> {
  const seen = new Set<string>();
  let run: Row[] = [];
  let first = true;
  const flush = function* (): Generator<Turn> {
    const copies = run.some(
      (row) => isSummary(row) || (row.role !== 'user' && strong(row).some((key) => seen.has(key))),
    );
    for (const [i, row] of run.entries()) {
      yield { row, copy: copies, restarts: copies && i === 0 };
      for (const key of [...strong(row), weak(row)]) seen.add(key);
    }
    run = [];
  };
  for (const row of rows) {
    if (!compacted && !continues) {
      yield { row, copy: false, restarts: false };
      continue;
    }
    const known = isSummary(row) || seen.has(weak(row)) || strong(row).some((key) => seen.has(key));
    const last = run.at(-1);
    const atOnce = last !== undefined && gap(last, row) <= ONE_MOMENT_S;
    if (known || atOnce || (first && continues)) run.push(row);
    else {
      yield* flush();
      yield { row, copy: false, restarts: false };
      for (const key of [...strong(row), weak(row)]) seen.add(key);
    }
    first = false;
  }
  yield* flush();
}

function gap(a: Row, b: Row): number {
  const seconds = Number(b.timestamp) - Number(a.timestamp);
  return seconds >= 0 ? seconds : Number.POSITIVE_INFINITY;
}

/** Ids that are not used twice in an honest session. */
const strong = (row: Row): string[] =>
  row.role === 'tool' ? [`result ${String(row.tool_call_id)}`] : rowCalls(row).map((call) => `call ${call.id}`);
const weak = (row: Row): string =>
  createHash('sha256')
    .update(`${String(row.role)}\n${rowText(row)}\n${String(row.tool_call_id ?? '')}`)
    .digest('hex');
