import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeShared } from '../../support/shared.js';
import { opencodeDatabase, type Rows } from './databases.js';
import { type Home, openTestHome, outline, servedPrompts } from './support.js';

interface Dump extends Rows {
  session: Record<string, unknown>[];
  message: Record<string, unknown>[];
  part: Record<string, unknown>[];
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
    opencodeDatabase(dump, file);
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
      opencodeDatabase(dump, join(at.home, name, 'opencode.db'));
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
