import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Recorder } from '../../main/record/recorder.js';
import { MIGRATIONS } from '../../main/store/migrations.js';
import { searchTerms, sessionsContaining } from '../../main/store/search.js';
import { openStore, type Store } from '../../main/store/store.js';
import { ask, callBash, request, result, say, system, user } from '../record/support.js';

let home: string;
let store: Store;
let recorder: Recorder;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'search-'));
  store = openStore(home);
  recorder = new Recorder(store);
});
afterEach(() => {
  store.close();
  rmSync(home, { recursive: true });
});

const find = (text: string) => [...sessionsContaining(store.db, text)].sort();
/** Two sessions that share their system prompt; the first runs a command. */
function two(): [string, string] {
  const own = (id: string) => ({ session: { ...user, harnessSessionId: id } });
  const call = callBash('c1', 'grep -rn "Zwölf\tnadel_heu" src\necho fertig');
  const first = recorder.record(request([system, ask('Where is the needle?')], call, own('a')));
  recorder.record(
    request(
      [system, ask('Where is the needle?'), call, result('c1', 'src/pin.ts: found')],
      say('In pin.ts.'),
      own('a'),
    ),
  );
  const second = recorder.record(request([system, ask('Count to ten')], say('one two'), own('b')));
  return [first.sessionId, second.sessionId];
}

describe('search', () => {
  it('finds what was asked, said, called and returned, each in its session only', () => {
    const [a, b] = two();
    expect(find('needle')).toEqual([a]);
    expect(find('NEED')).toEqual([a]);
    expect(find('pin.ts')).toEqual([a]);
    expect(find('zwolf')).toEqual([a]);
    expect(find('nadel_heu')).toEqual([a]);
    expect(find('fertig')).toEqual([a]);
    expect(find('two')).toEqual([b]);
    expect(find('coding agent')).toEqual([]);
    expect(find('needle two')).toEqual([]);
    expect(find('needle fertig')).toEqual([a]);
    expect(find('"is the needle"')).toEqual([a]);
    expect(find('"needle the is"')).toEqual([]);
    expect(find('unheard')).toEqual([]);
  });
  it('takes any text as words, never as a query language', () => {
    two();
    for (const text of ['"', 'AND', 'NEAR(', 'words:needle', '* ^', '(((', "'; DROP TABLE message", 'a"b"c', '\u0000'])
      expect(() => find(text)).not.toThrow();
    expect(searchTerms('say "hello big world" now - "x')).toEqual(['say', 'hello big world', 'now', 'x']);
  });
  it('forgets the words of a deleted session, also in the bytes of the file', () => {
    const [a] = two();
    recorder.deleteSession(a);
    expect(find('needle')).toEqual([]);
    expect(find('ten')).toHaveLength(1);
    store.db.exec("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'message_words', 'row')");
    const left = store.db.prepare("SELECT term FROM temp.terms WHERE term IN ('needle', 'fertig', 'nadel')").all();
    expect(left).toEqual([]);
  });
  it('stores a message it cannot index', () => {
    let deep: unknown = 'buried';
    for (let i = 0; i < 1500; i++) deep = [deep];
    const odd = { role: 'user', content: [{ type: 'text', text: 'plain', deep }] } as never;
    const { sessionId } = recorder.record(request([system, odd], say('a rare answer')));
    expect(find('rare')).toEqual([sessionId]);
    expect(recorder.deleteSession(sessionId)).toBe(true);
  });
});

describe('migration of a database without an index', () => {
  it('keeps a copy of it, indexes what it holds, and the copy goes when a session is deleted', () => {
    const [a, b] = two();
    store.close();
    const old = join(home, 'old');
    const file = join(home, 'tackroom.db');
    const before = new Database(old);
    for (const sql of MIGRATIONS.slice(0, 2)) before.exec(sql);
    before.exec(`ATTACH '${file}' AS now`);
    for (const table of ['session', 'request', 'toolCall', 'message', 'message_node', 'tools'])
      before.exec(`INSERT INTO main.${table} SELECT * FROM now.${table}`);
    before.exec('DETACH now');
    before.pragma('user_version = 2');
    before.close();
    for (const name of readdirSync(home).filter((n) => n.startsWith('tackroom.db'))) rmSync(join(home, name));
    copyFileSync(old, file);
    store = openStore(home);
    expect(find('needle')).toEqual([a]);
    const copy = `${file}.schema-2.bak`;
    const kept = new Database(copy, { readonly: true });
    expect(kept.pragma('user_version', { simple: true })).toBe(2);
    expect(kept.prepare('SELECT count(*) AS n FROM request').get()).toEqual({ n: 3 });
    kept.close();
    expect(new Recorder(store).deleteSession(b)).toBe(true);
    expect(existsSync(copy)).toBe(false);
    expect(readFileSync(file).includes('Count to ten')).toBe(false);
  });
});
