/** SQLite files in the shape of hermes and opencode, from rows; columns without a value are NULL. */
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

type Row = Record<string, unknown>;
export type Rows = Record<string, Row[]>;

const HERMES = `CREATE TABLE schema_version (version INTEGER);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
  parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, input_tokens INTEGER, output_tokens INTEGER,
  cache_read_tokens INTEGER, cache_write_tokens INTEGER, cwd TEXT, title TEXT, billing_provider TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT,
  timestamp REAL, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, active INTEGER, compacted INTEGER, api_content TEXT);`;
const OPENCODE = `CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
  time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);`;

export const hermesDatabase = (rows: Rows, file: string): void => databaseOf(HERMES, rows, file);
export const opencodeDatabase = (rows: Rows, file: string): void => databaseOf(OPENCODE, rows, file);

function databaseOf(schema: string, rows: Rows, file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  const db = new Database(file);
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.exec(`BEGIN; ${schema}`);
  for (const [table, list] of Object.entries(rows)) {
    if (!/^[a-z_]+$/.test(table)) continue;
    const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    if (columns.length === 0) continue;
    const put = db.prepare(`INSERT OR REPLACE INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`);
    for (const row of Array.isArray(list) ? list : []) {
      try {
        put.run(...columns.map((name) => plain(row?.[name])));
      } catch (error) {
        // A damaged row that the table itself would refuse.
        if (!/datatype mismatch|too big|constraint/.test(String(error))) throw error;
      }
    }
  }
  db.exec('COMMIT');
  db.close();
}

function plain(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value !== null && typeof value === 'object' ? JSON.stringify(value) : value;
}

const call = (id: string, command: string): string =>
  JSON.stringify([{ id, type: 'function', function: { name: 'terminal', arguments: JSON.stringify({ command }) } }]);

/** Two calls, a compaction in place, an answer, a rewound question; a second session that the first was delegated to. */
export const HERMES_ROWS: Rows = {
  schema_version: [{ version: 22 }],
  sessions: [
    {
      id: 'made-up-hermes',
      model: 'm',
      started_at: 1000,
      cwd: '/home/dev/calc',
      title: 'Repair',
      system_prompt: 'You help.',
    },
    {
      id: 'child',
      model: 'm',
      started_at: 1100,
      parent_session_id: 'made-up-hermes',
      model_config: '{"_delegate_from":"made-up-hermes"}',
    },
  ],
  messages: [
    { id: 1, role: 'user', content: 'Fix the test', timestamp: 1001, active: 0, compacted: 1 },
    {
      id: 2,
      role: 'assistant',
      content: 'I look.',
      tool_calls: call('c1', 'ls'),
      timestamp: 1002,
      active: 0,
      compacted: 1,
    },
    {
      id: 3,
      role: 'tool',
      tool_call_id: 'c1',
      content: '{"output":"calc.py","exit_code":0,"error":null}',
      timestamp: 1003,
      active: 0,
      compacted: 1,
    },
    {
      id: 4,
      role: 'assistant',
      reasoning: 'Hm.',
      tool_calls: call('c2', 'python3 test_calc.py'),
      timestamp: 1004,
      active: 0,
      compacted: 1,
    },
    {
      id: 5,
      role: 'tool',
      tool_call_id: 'c2',
      content: '{"output":"it subtracts","exit_code":1,"error":null}',
      timestamp: 1005,
      active: 0,
      compacted: 1,
    },
    { id: 6, role: 'user', content: 'Fix the test', timestamp: 1006, active: 1, compacted: 0 },
    {
      id: 7,
      role: 'assistant',
      content: '[PRIOR CONTEXT] We looked.',
      tool_calls: call('c2', 'python3 test_calc.py'),
      timestamp: 1006.000001,
      active: 1,
      compacted: 0,
    },
    {
      id: 8,
      role: 'tool',
      tool_call_id: 'c2',
      content: '{"output":"it subtracts","exit_code":1,"error":null}',
      timestamp: 1006.000002,
      active: 1,
      compacted: 0,
    },
    { id: 9, role: 'assistant', content: 'Repaired.', timestamp: 1008, finish_reason: 'stop', active: 1, compacted: 0 },
    { id: 10, role: 'user', content: 'A question taken back', timestamp: 1009, active: 0, compacted: 0 },
  ].map((row) => ({ session_id: 'made-up-hermes', ...row })),
};

const part = (id: string, message_id: string, data: Row): Row => ({
  id,
  message_id,
  session_id: 'ses_made_up',
  time_updated: 1,
  data,
});
const message = (id: string, data: Row): Row => ({
  id,
  session_id: 'ses_made_up',
  time_updated: 1,
  data: { time: { created: 1000 }, ...data },
});
const said = { type: 'text', text: 'Repaired.' };

/** A call, a compaction, an answer, a question without one. */
export const OPENCODE_ROWS: Rows = {
  session: [
    {
      id: 'ses_made_up',
      directory: '/home/dev/calc',
      title: 'Repair',
      version: '1.0',
      time_created: 1000,
      time_updated: 2000,
    },
  ],
  message: [
    message('msg_1', { role: 'user' }),
    message('msg_2', {
      role: 'assistant',
      modelID: 'm',
      providerID: 'p',
      finish: 'tool-calls',
      tokens: { input: 5, output: 7 },
    }),
    message('msg_3', { role: 'user' }),
    message('msg_4', { role: 'assistant', summary: true, mode: 'compaction' }),
    message('msg_5', { role: 'user' }),
    message('msg_6', {
      role: 'assistant',
      modelID: 'm',
      finish: 'stop',
      error: { name: 'APIError', data: { message: 'late' } },
    }),
    message('msg_7', { role: 'user' }),
  ],
  part: [
    part('prt_1', 'msg_1', { type: 'text', text: '"Fix the test"' }),
    part('prt_2', 'msg_2', { type: 'step-start' }),
    part('prt_3', 'msg_2', {
      type: 'tool',
      tool: 'bash',
      callID: 'c1',
      state: {
        status: 'completed',
        input: { command: 'python3 test_calc.py' },
        output: 'it subtracts',
        metadata: { exit: 1 },
      },
    }),
    part('prt_4', 'msg_3', { type: 'compaction', auto: true }),
    part('prt_5', 'msg_4', { type: 'text', text: 'We looked.' }),
    part('prt_6', 'msg_5', { type: 'text', text: 'Go on.', synthetic: true }),
    part('prt_7', 'msg_6', said),
    part('prt_8', 'msg_7', { type: 'text', text: 'And then?' }),
  ],
};

/** The same as `opencode export` writes it. */
export const opencodeExport = (rows: Rows): Row => ({
  info: { ...rows.session![0], time: { created: 1000 } },
  messages: rows.message!.map((one) => ({
    info: { ...(one.data as Row), id: one.id },
    parts: rows.part!.filter((piece) => piece.message_id === one.id).map((piece) => piece.data),
  })),
});
