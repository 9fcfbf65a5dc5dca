/** hermes' state.db, schemas 22 to 30: sessions and messages in SQLite. Read by the names of the columns it has. */

import type { Database } from '../../store/database.js';
import { withoutCopies } from './hermes-copies.js';
import { isSummary, markOf, rowAnswer, rowCalls, rowResult, rowText } from './hermes-rows.js';
import { parseObject } from './json-lines.js';
import {
  missingUnit,
  type Place,
  ROOT,
  type SessionInfo,
  type SessionReader,
  type SessionUnit,
  type SessionWriter,
  type Skip,
} from './session-writer.js';
import { Children, firstRow, hasTables, inDatabase, type Row } from './sqlite-source.js';
import { asCount, asText, asTime } from './values.js';

const SECONDS = 1000;

export const hermesReader: SessionReader = {
  harness: 'hermes',
  recognises: (file) => hasTables(file, 'schema_version', 'sessions', 'messages'),
  units: (file) => inDatabase(file, (db) => sessionsOf(db, file.path)),
};

function* sessionsOf(db: Database, path: string): Generator<SessionUnit> {
  const columns = new Set((db.pragma('table_info(messages)') as { name: string }[]).map(({ name }) => name));
  const sum = (column: string): string => (columns.has(column) ? `sum(${column} = 1)` : '0');
  const states = new Map<string, Row>();
  const state = `SELECT session_id, count(*) AS rows, max(id) AS last, ${sum('active')} AS active,
    ${sum('compacted')} AS compacted, sum(length(content)) AS size FROM messages GROUP BY session_id`;
  for (const row of db.prepare(state).iterate() as IterableIterator<Row>) states.set(String(row.session_id), row);
  const messages = new Children(db, 'messages', 'session_id');
  const ids = db.prepare('SELECT id FROM sessions ORDER BY started_at, id').pluck().all();
  const session = db.prepare('SELECT * FROM sessions WHERE id = ?');
  for (const id of ids) {
    if (typeof id !== 'string') continue;
    const row = session.get(id) as Row | undefined;
    const key = `hermes\n${path}\n${id}`;
    if (!row) {
      yield missingUnit(key, id);
      continue;
    }
    const at = states.get(id) ?? {};
    yield {
      key,
      fingerprint: JSON.stringify([at.rows, at.last, at.active, at.compacted, at.size, row.title, row.ended_at]),
      read: (writer, skip) => new HermesSession(db, row, asCount(at.compacted) > 0, writer, skip).read(messages.of(id)),
    };
  }
}

class HermesSession {
  readonly #info: SessionInfo;
  #place: Place = ROOT;
  #system: Place = ROOT;
  /** Ids of calls that had none in the file, in their order. */
  #nameless: string[] = [];

  constructor(
    db: Database,
    private readonly row: Row,
    private readonly compacted: boolean,
    private readonly writer: SessionWriter,
    private readonly skip: Skip,
  ) {
    this.#info = infoOf(db, row);
    writer.begin(this.#info);
    writer.describe({
      title: asText(row.title) ?? '',
      model: asText(row.model) ?? '',
      usage: {
        promptTokens: asCount(row.input_tokens) + asCount(row.cache_read_tokens) + asCount(row.cache_write_tokens),
        completionTokens: asCount(row.output_tokens),
      },
    });
    const prompt = systemPrompt(db, row);
    if (prompt !== null) this.#place = this.#system = writer.message(ROOT, { role: 'system', content: prompt });
  }

  read(rows: Iterable<Row>): void {
    const kept = filter(rows, (row) => !isRewound(row));
    for (const turn of withoutCopies(kept, this.compacted, this.#info.parent?.kind === 'compaction')) {
      if (turn.restarts) this.#place = this.#system;
      this.#turn(turn.row, turn.copy);
    }
  }

  #turn(row: Row, copy: boolean): void {
    if (row.role === 'assistant') this.#assistant(row, copy);
    else if (row.role === 'tool') {
      const callId = asText(row.tool_call_id) ?? this.#nameless.shift() ?? '';
      this.#place = copy
        ? this.writer.message(this.#place, { role: 'tool', tool_call_id: callId, content: rowText(row) })
        : this.writer.result(this.#place, rowResult(row, callId));
    } else if (row.role === 'user') {
      this.#place = this.writer.message(this.#place, { role: 'user', content: rowText(row) }, markOf(row));
    } else this.skip(null, `message ${String(row.id)} of session ${this.#info.id} has an unknown role`);
  }

  #assistant(row: Row, copy: boolean): void {
    const { answer, replay } = rowAnswer(row);
    if (copy) {
      this.#place = this.writer.message(this.#place, replay, isSummary(row) ? 'summary' : undefined);
      return;
    }
    const after = this.writer.request(this.#place, {
      key: String(row.id),
      at: asTime(row.timestamp, SECONDS) ?? this.#info.createdAt,
      model: asText(this.row.model) ?? '',
      provider: asText(this.row.billing_provider),
      answer,
      finish: asText(row.finish_reason) ?? '',
      status: 'ok',
      error: null,
      promptTokens: 0,
      completionTokens: asCount(row.token_count),
      durationMs: 0,
    });
    this.#place = answer === replay ? after : this.writer.message(this.#place, replay);
    this.#nameless = rowCalls(row).flatMap((call) => (call.id.startsWith('row-') ? [call.id] : []));
  }
}

/** Taken back by the user. Rows that a compaction replaced are inactive too, but were said. */
const isRewound = (row: Row): boolean => row.active === 0 && row.compacted !== 1;

function* filter(rows: Iterable<Row>, keep: (row: Row) => boolean): Generator<Row> {
  for (const row of rows) if (keep(row)) yield row;
}

function infoOf(db: Database, row: Row): SessionInfo {
  return {
    harness: 'hermes',
    id: String(row.id),
    createdAt: asTime(row.started_at, SECONDS) ?? 0,
    cwd: asText(row.cwd),
    harnessVersion: null,
    parent: parentOf(db, row),
  };
}

function parentOf(db: Database, row: Row): SessionInfo['parent'] {
  const config = parseObject(asText(row.model_config) ?? '') ?? {};
  const delegate = asText(config._delegate_from);
  const branched = asText(config._branched_from);
  const id = asText(row.parent_session_id) ?? delegate ?? branched;
  if (id === null) return null;
  if (delegate !== null) return { id, kind: 'subagent' };
  if (branched !== null) return { id, kind: 'fork' };
  const parent = firstRow(db, 'SELECT * FROM sessions WHERE id = ?', id);
  return { id, kind: parent?.end_reason === 'compression' ? 'compaction' : 'subagent' };
}

/** Inline until schema 24, by hash since. */
function systemPrompt(db: Database, row: Row): string | null {
  const inline = asText(row.system_prompt);
  if (inline !== null && inline !== '') return inline;
  if (typeof row.system_prompt_hash !== 'string') return null;
  if (!firstRow(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'system_prompts'")) return null;
  return asText(firstRow(db, 'SELECT prompt FROM system_prompts WHERE hash = ?', row.system_prompt_hash)?.prompt);
}
