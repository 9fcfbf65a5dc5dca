/** What holds of every importer: nothing twice, nothing lost, nothing written beside the source. */
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Recorder } from '../../../main/record/recorder.js';
import { sessionsContaining } from '../../../main/store/search.js';
import { describeShared } from '../../support/shared.js';
import { CLAUDE_LINES, CODEX_LINES, PI_LINES } from './sessions.js';
import { contents, type Home, openTestHome } from './support.js';

let at: Home;
let source: string;
beforeEach(() => {
  at = openTestHome();
  source = join(at.home, 'source');
  mkdirSync(source);
});
afterEach(() => at.close());

const LINES = { 'pi.jsonl': PI_LINES, 'claude.jsonl': CLAUDE_LINES, 'codex.jsonl': CODEX_LINES };
const text = (lines: readonly object[]): string => `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;

async function freshly(path: string): Promise<Record<string, unknown[]>> {
  const fresh = openTestHome();
  try {
    await fresh.import(path);
    const { import_source: _, ...rest } = contents(fresh.store);
    return rest;
  } finally {
    fresh.close();
  }
}

describe.each(Object.entries(LINES))('%s', (name, lines) => {
  it('grown line by line is what it is in one reading', async () => {
    const file = join(source, name);
    writeFileSync(file, '');
    let requests = 0;
    for (const line of lines) {
      appendFileSync(file, text([line]));
      const { sessions } = await at.import(file);
      const now = sessions[0]?.session.requests ?? 0;
      expect(now).toBeGreaterThanOrEqual(requests);
      expect(sessions[0]?.added ?? 0).toBe(now - requests);
      requests = now;
    }
    const { import_source: _, ...grown } = contents(at.store);
    expect(grown).toEqual(await freshly(file));
  });

  it('torn anywhere in its last line loses that line alone, and gets it back', async () => {
    const file = join(source, name);
    const whole = text(lines);
    for (const cut of [1, 20, JSON.stringify(lines.at(-1)).length]) {
      writeFileSync(file, whole.slice(0, -1 - cut));
      const { skipped } = await at.import(file);
      expect(skipped.map(({ line, reason }) => [line, reason])).toEqual(
        cut === JSON.stringify(lines.at(-1)).length ? [] : [[lines.length, 'torn last line']],
      );
    }
    writeFileSync(file, whole);
    expect((await at.import(file)).skipped).toEqual([]);
    const { import_source: _, ...healed } = contents(at.store);
    expect(healed).toEqual(await freshly(file));
  });

  it('names damaged and unknown lines, also the second time, and reads the rest', async () => {
    const file = join(source, name);
    const odd = { type: 'from-the-future', timestamp: '2026-11-30T10:00:00.000Z', payload: {} };
    const all = [
      ...lines.slice(0, -1).map((line) => JSON.stringify(line)),
      '{"type":',
      'null',
      '',
      JSON.stringify(odd),
      JSON.stringify(lines.at(-1)),
    ];
    writeFileSync(file, `${all.join('\r\n')}\r\n`);
    const first = await at.import(file);
    const n = lines.length;
    expect(first.skipped).toEqual([
      { path: file, line: n, reason: 'not a JSON object' },
      { path: file, line: n + 1, reason: 'not a JSON object' },
      { path: file, line: n + 3, reason: 'unknown type "from-the-future"' },
    ]);
    const second = await at.import(file);
    expect(second.skipped).toEqual(first.skipped);
    expect(second.sessions.map(({ session }) => session)).toEqual(first.sessions.map(({ session }) => session));
    writeFileSync(file, text(lines));
    const { request } = await freshly(file);
    expect(at.store.request.count()).toBe(request!.length);
  });

  it('passes over values that are not what they should be', async () => {
    const file = join(source, name);
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const odd = [
      '{"type":{"toString":1,"valueOf":1}}',
      `{"type":${deep}}`,
      '{"type":"constructor"}',
      '{"type":"__proto__"}',
      '[]',
    ];
    writeFileSync(
      file,
      [...lines.slice(0, 2).map((line) => JSON.stringify(line)), ...odd, ''].join('\n') + text(lines.slice(2)),
    );
    const { skipped } = await at.import(file);
    expect(skipped.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7]);
    const { request } = await freshly(file);
    expect(at.store.request.list()).toHaveLength(request!.length);
  });

  it('is found by what was said in it, and is gone when it is deleted', async () => {
    const file = join(source, name);
    writeFileSync(file, text(lines));
    const { session } = (await at.import(file)).sessions[0]!;
    expect([...sessionsContaining(at.store.db, 'subtracts')]).toEqual([session.id]);
    expect([...sessionsContaining(at.store.db, '"test_calc.py"')]).toEqual([session.id]);
    expect(new Recorder(at.store).deleteSession(session.id)).toBe(true);
    for (const [table, rows] of Object.entries(contents(at.store))) expect([table, rows]).toEqual([table, []]);
    expect((await at.import(file)).sessions.map(({ added }) => added)).toEqual([session.requests]);
  });
});

describe('a folder', () => {
  it('is walked without following links, and files that hold no sessions are passed over', async () => {
    const outside = join(at.home, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'pi.jsonl'), text(PI_LINES));
    symlinkSync(outside, join(source, 'link'));
    symlinkSync(join(outside, 'pi.jsonl'), join(source, 'file.jsonl'));
    symlinkSync(source, join(source, 'loop'));
    mkdirSync(join(source, 'deep', 'er'), { recursive: true });
    writeFileSync(join(source, 'deep', 'er', 'codex.jsonl'), text(CODEX_LINES));
    writeFileSync(join(source, 'package.json'), '{"name":"x"}');
    writeFileSync(join(source, 'notes.jsonl'), '{"a":1}\n');
    writeFileSync(join(source, 'empty.json'), '');
    const { sessions, skipped } = await at.import(source);
    expect(skipped).toEqual([]);
    expect(sessions.map(({ session }) => session.source?.harness)).toEqual(['codex']);
  });

  it('says of a named file that it holds nothing, and of a missing one that it is missing', async () => {
    const file = join(source, 'notes.txt');
    writeFileSync(file, 'hello');
    expect((await at.import(file)).skipped).toEqual([
      { path: file, line: null, reason: 'holds no sessions that are known here' },
    ]);
    await expect(at.import(join(source, 'absent'))).rejects.toThrow(/cannot be read/);
  });

  it('does not take what `pi --mode json` prints for a session', async () => {
    const events = [PI_LINES[0]!, { type: 'agent_start' }, { type: 'turn_start' }];
    writeFileSync(join(source, 'stdout.jsonl'), text(events));
    expect((await at.import(source)).sessions).toEqual([]);
  });
});

describeShared('all fixtures', (shared) => {
  it('imported twice give one result, and are left as they were', async () => {
    for (const name of [
      'imports',
      'harness/opencode/chat-subagent',
      'harness/hermes/chat-resume',
      'harness/pi/tree-branches',
    ])
      cpSync(join(shared, 'fixtures', name), join(source, basename(name)), { recursive: true });
    const look = () =>
      readdirSync(source, { recursive: true, encoding: 'utf8', withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'base64')]);
    const files = look();
    const first = await at.import(source);
    const before = contents(at.store);
    const second = await at.import(source);
    expect(contents(at.store)).toEqual(before);
    expect(second.sessions.map(({ session }) => session)).toEqual(first.sessions.map(({ session }) => session));
    expect(second.skipped).toEqual(first.skipped);
    expect(second.sessions.every(({ added }) => added === 0)).toBe(true);
    expect(look()).toEqual(files);
    // The same without the note of what was read: reading again changes nothing either.
    at.store.db.exec('DELETE FROM import_source');
    await at.import(source);
    expect(contents(at.store)).toEqual(before);
  });
});
