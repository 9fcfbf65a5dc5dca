import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeShared } from '../../support/shared.js';
import { hermesDatabase, type Rows } from './databases.js';
import { type Home, openTestHome, outline, servedPrompts } from './support.js';

/**
 * hermes sends something else than its rows say: it drops a call whose id came before, the result of one without an id,
 * and does not store its questions about edits. The folder of `resume` holds the second turn only.
 */
const NOT_AS_SERVED = /^chat-(?:dupid|noid|verify|resume)$/;
const FAILS = /^chat-(?:bad|err4|err5|errhtml|contentfilter|ctx|disc|hang|htmlok|json|lengthtool)/;

const told = (prompts: ReturnType<typeof servedPrompts>): string[] =>
  prompts.map((prompt) => JSON.stringify(outline(prompt.filter((message) => message.role !== 'system'))));

let at: Home;
beforeEach(() => {
  at = openTestHome();
});
afterEach(() => at.close());

describeShared('state.db of hermes', (shared) => {
  const real = join(shared, 'fixtures', 'harness', 'hermes');
  const made = join(shared, 'fixtures', 'imports', 'hermes');

  it.each(['chat-tool', 'chat-reasoning', 'chat-edit', 'chat-compaction', 'chat-resume'])(
    '%s: as the model saw it',
    async (name) => {
      const { sessions, skipped } = await at.import(join(real, name, 'state.db'));
      expect(skipped).toEqual([]);
      const served = [
        ...(name === 'chat-resume' ? servedPrompts(join(real, 'chat-resume-turn1')) : []),
        ...servedPrompts(join(real, name)),
      ];
      const imported = sessions.flatMap(({ session }) => at.requests(session.id)).map((request) => at.prompt(request));
      expect(told(imported)).toEqual(told(served));
    },
  );

  const dumped = readdirSync(real).filter(
    (name) => name.startsWith('chat-') && existsSync(join(real, name, 'state-db-dump.json')),
  );
  it.each(dumped)('%s: rows of the dump, as the model saw it', async (name) => {
    const file = join(at.home, 'dump', 'state.db');
    hermesDatabase(JSON.parse(readFileSync(join(real, name, 'state-db-dump.json'), 'utf8')) as Rows, file);
    const { sessions, skipped } = await at.import(file);
    const imported = told(
      sessions.flatMap(({ session }) => at.requests(session.id)).map((request) => at.prompt(request)),
    );
    expect(skipped).toEqual([]);
    // The last request at the turn limit offers no tools.
    const served = told(servedPrompts(join(real, name), { withoutTools: true }));
    if (!NOT_AS_SERVED.test(name)) for (const prompt of imported) expect(served).toContain(prompt);
    // A request that failed leaves no row; otherwise nothing is missing.
    expect(imported.length).toBeGreaterThanOrEqual(FAILS.test(name) ? 0 : 1);
  });

  it('counts no message twice that a compaction inserted again', async () => {
    const { sessions } = await at.import(join(real, 'chat-compaction', 'state.db'));
    expect(sessions.map(({ session }) => [session.requests, session.toolCalls])).toEqual([[10, 9]]);
    const marks = at.store.db.prepare("SELECT count(*) AS n FROM session_place WHERE kind = 'summary'").get();
    expect(marks).toEqual({ n: 1 });
  });

  it.each(['state_v22.db', 'state_v26.db', 'state_v30.db'])(
    '%s: 14 active messages, the rewound one left out',
    async (file) => {
      const { sessions, skipped } = await at.import(join(made, file));
      expect(skipped).toEqual([]);
      expect(sessions.map(({ session }) => [session.title, session.requests, session.toolCalls])).toEqual([
        ['Fix calc test', 7, 5],
        ['(synthetic) look at this', 0, 0],
      ]);
      const { session } = sessions[0]!;
      expect(session.source).toMatchObject({
        cwd: '/home/dev/calc',
        usage: { promptTokens: 9600, completionTokens: 270 },
      });
      const requests = at.requests(session.id);
      const [first] = at.prompt(requests[0]!);
      expect(first).toMatchObject({ role: 'system', content: expect.stringMatching(/^You are Hermes Agent/) });
      // The last prompt and its answer are the 14 messages and the system prompt.
      expect(at.prompt(requests.at(-1)!)).toHaveLength(14);
      const calls = at.store.toolCall.list({ where: { sessionId: session.id }, descending: false });
      expect(calls.map((call) => [call.name, call.exitCode, call.isError])).toEqual([
        ['terminal', 1, true],
        ['read_file', null, false],
        ['patch', null, false],
        ['terminal', 0, false],
        ['write_file', null, false],
      ]);
      expect(JSON.stringify(requests.map((request) => at.prompt(request)))).not.toContain('rewound');
    },
  );

  it('reads a database whose rows are all in the log, and leaves its folder as it was', async () => {
    const folder = join(at.home, 'state-wal');
    mkdirSync(folder);
    for (const name of readdirSync(join(real, 'chat-tool', 'state-wal')))
      cpSync(join(real, 'chat-tool', 'state-wal', name), join(folder, name));
    const look = () =>
      readdirSync(folder).map((name) => [
        name,
        statSync(join(folder, name)).mtimeMs,
        readFileSync(join(folder, name), 'base64'),
      ]);
    const before = look();
    const { sessions, skipped } = await at.import(folder);
    expect(skipped).toEqual([]);
    expect(sessions.map(({ session }) => [session.requests, session.toolCalls])).toEqual([[2, 1]]);
    expect(look()).toEqual(before);
  });

  it('reads the database of a running hermes, and only what is new of it the next time', async () => {
    const file = join(at.home, 'state.db');
    cpSync(join(real, 'chat-tool', 'state.db'), file);
    chmodSync(file, 0o600);
    const running = new Database(file);
    running.pragma('journal_mode = WAL');
    running.pragma('wal_autocheckpoint = 0');
    const say = running.prepare(
      'INSERT INTO messages (session_id, role, content, timestamp, finish_reason, active) SELECT id, ?, ?, ?, ?, 1 FROM sessions',
    );
    say.run('user', 'One more.', 1795968700, null);
    expect((await at.import(file)).sessions.map(({ session, added }) => [session.requests, added])).toEqual([[2, 2]]);
    say.run('assistant', 'Done once more.', 1795968701, 'stop');
    expect((await at.import(file)).sessions.map(({ session, added }) => [session.requests, added])).toEqual([[3, 1]]);
    expect((await at.import(file)).sessions.map(({ session, added }) => [session.requests, added])).toEqual([[3, 0]]);
    running.close();
  });
});
