import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeShared } from '../../support/shared.js';
import { type Home, openTestHome, outline, servedPrompts } from './support.js';

interface Dump {
  session: Record<string, unknown>[];
  message: Record<string, unknown>[];
  part: Record<string, unknown>[];
}

/** The rows of a fixture in a database of opencode's shape. */
function databaseOf(dump: Dump, file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const db = new Database(file);
  db.exec(`CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
      time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);`);
  for (const table of ['session', 'message', 'part'] as const) {
    const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    const put = db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`);
    const plain = (value: unknown) =>
      value !== null && typeof value === 'object' ? JSON.stringify(value) : (value ?? null);
    for (const row of dump[table]) put.run(...columns.map((name) => plain(row[name])));
  }
  db.close();
}

/** Without the system prompt, which opencode does not store, and the quotes that `opencode run` puts around a question. */
const told = (prompts: ReturnType<typeof servedPrompts>): string[] =>
  prompts.map((prompt) => {
    const lines = outline(prompt.filter((message) => message.role !== 'system'));
    return JSON.stringify(lines.map((line) => line.replace(/^user\|"(.*)"\|/, 'user|$1|')));
  });

let at: Home;
beforeEach(() => {
  at = openTestHome();
});
afterEach(() => at.close());

describeShared('sessions of opencode', (shared) => {
  const root = join(shared, 'fixtures', 'harness', 'opencode');
  const scenarios = readdirSync(root).filter(
    (name) => name.startsWith('chat-') && existsSync(join(root, name, 'opencode-db-dump.json')),
  );

  it.each(scenarios)('%s: as the model saw it', async (name) => {
    const dump = JSON.parse(readFileSync(join(root, name, 'opencode-db-dump.json'), 'utf8')) as Dump;
    const file = join(at.home, 'source', 'opencode.db');
    databaseOf(dump, file);
    const { sessions, skipped } = await at.import(file);
    expect(skipped).toEqual([]);
    const imported = told(
      sessions.flatMap(({ session }) => at.requests(session.id)).map((request) => at.prompt(request)),
    );
    // Retries are invisible in the database, and of long runs the folder holds the first requests only.
    for (const prompt of told(servedPrompts(join(root, name)))) expect(imported).toContain(prompt);
  });

  it.each(['chat-text', 'chat-tool', 'chat-subagent', 'chat-compaction'])('%s: the real file', async (name) => {
    const dump = JSON.parse(readFileSync(join(root, name, 'opencode-db-dump.json'), 'utf8')) as Dump;
    const { sessions, skipped } = await at.import(join(root, name, 'opencode.db'));
    expect(skipped).toEqual([]);
    expect(sessions.map(({ session }) => session.harnessSessionId).sort()).toEqual(
      dump.session.map((row) => row.id).sort(),
    );
    const answers = dump.message.filter(({ data }) => {
      const { role, summary } = data as { role: string; summary?: unknown };
      return role === 'assistant' && summary !== true;
    });
    expect(at.store.request.count()).toBe(answers.length);
    const tools = dump.part.filter(({ data }) => (data as { type: string }).type === 'tool');
    expect(at.store.toolCall.count()).toBe(tools.length);
  });

  it('recovers exit codes, which the model never sees', async () => {
    const codes = async (name: string) => {
      const dump = JSON.parse(readFileSync(join(root, name, 'opencode-db-dump.json'), 'utf8')) as Dump;
      databaseOf(dump, join(at.home, name, 'opencode.db'));
      const { sessions } = await at.import(join(at.home, name, 'opencode.db'));
      const where = { sessionId: sessions[0]!.session.id };
      return at.store.toolCall.list({ where }).map((call) => [call.exitCode, call.isError]);
    };
    expect(await codes('chat-tool')).toEqual([[0, false]]);
    expect(await codes('chat-toolfail')).toEqual([[3, true]]);
    expect(await codes('chat-tooltimeout')).toEqual([[null, false]]);
    expect(await codes('chat-extdir')).toEqual([[null, true]]);
  });

  it('links a subagent with the session it works for', async () => {
    const { sessions } = await at.import(join(root, 'chat-subagent', 'opencode.db'));
    const child = sessions.find(({ session }) => session.source?.parent);
    expect(child?.session.source?.parent).toEqual({
      kind: 'subagent',
      sessionId: sessions.find(({ session }) => !session.source?.parent)?.session.id,
    });
  });

  it('marks what nobody typed', async () => {
    await at.import(join(root, 'chat-compaction', 'opencode.db'));
    const kinds = at.store.db
      .prepare("SELECT kind, count(*) AS n FROM session_place WHERE kind <> 'tail' GROUP BY kind ORDER BY kind")
      .all();
    // The same summary and question three times over: one place in the tree each, then what follows them.
    expect(kinds).toEqual([
      { kind: 'nudge', n: 1 },
      { kind: 'summary', n: 2 },
    ]);
  });

  it('reads an export', async () => {
    const file = join(root, '_export-fork-steps', 'export.json');
    const { sessions, skipped } = await at.import(file);
    expect(skipped).toEqual([]);
    const { messages } = JSON.parse(readFileSync(file, 'utf8')) as { messages: { info: { role: string } }[] };
    const answers = messages.filter(({ info }) => info.role === 'assistant').length;
    expect(sessions.map(({ session }) => [session.title, session.requests])).toEqual([['t', answers]]);
  });
});
