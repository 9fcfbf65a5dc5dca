/** Kills in the middle, files larger than memory should be, and very many sessions. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { SESSION_READERS } from '../../../main/cli/sessions-import.js';
import { importSessions } from '../../../main/record/import-sessions.js';
import { Recorder } from '../../../main/record/recorder.js';
import { openStore } from '../../../main/store/store.js';
import { type Bundle, bundle } from '../bundle.js';
import { PI_LINES } from './sessions.js';
import { contents, type Home, openTestHome } from './support.js';

const MEGABYTE = 1024 * 1024;
/** A share of 1 GB; TACKROOM_IMPORT_MB=1000 reads the whole. */
const FILE_MB = Number(process.env.TACKROOM_IMPORT_MB ?? 128);
/** What a reading may add to the process, whatever the size of the file. */
const MEMORY_MB = 120;
const SESSIONS = Number(process.env.TACKROOM_IMPORT_SESSIONS ?? 300);

let runner: Bundle;
let at: Home;
beforeAll(async () => {
  runner = await bundle('tests/record/import/import-runner.ts');
}, 60_000);
afterAll(() => runner.remove());
beforeEach(() => {
  at = openTestHome();
});
afterEach(() => at.close());

/** One long session: turns of 64 KiB that no two are alike. */
function writeLongSession(file: string, megabytes: number): number {
  const fd = openSync(file, 'w');
  const put = (line: object): void => {
    writeSync(fd, `${JSON.stringify(line)}\n`);
  };
  put({ type: 'session', version: 3, id: 'long', timestamp: '2026-11-30T09:00:00.000Z', cwd: '/home/dev' });
  let turns = 0;
  for (let parent: string | null = null; statSync(file).size < megabytes * MEGABYTE; turns++) {
    const text = `${turns} ${'lorem ipsum dolor sit amet '.repeat(2400)}`;
    put({ type: 'message', id: `u${turns}`, parentId: parent, message: { role: 'user', content: text } });
    parent = `a${turns}`;
    put({
      type: 'message',
      id: parent,
      parentId: `u${turns}`,
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: `Turn ${turns}.` }],
        stopReason: 'stop',
        model: 'm',
      },
    });
  }
  closeSync(fd);
  return turns;
}

/** Runs the import of `file` in a process of its own; `whenBegun` gets it when it writes. */
async function importApart(
  home: string,
  file: string,
  how: string,
  whenBegun: (child: ChildProcess) => void,
): Promise<void> {
  const child = spawn(process.execPath, [runner.file, home, file, how], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.once('data', () => whenBegun(child));
  await once(child, 'close');
}

it('killed at any moment goes on the next time, with the result of one reading', { timeout: 180_000 }, async () => {
  const file = join(at.home, 'long.jsonl');
  const turns = writeLongSession(file, 8);
  await at.import(file);
  const whole = contents(at.store);
  const left = new Set<number>();
  for (const ms of [5, 150, 300, 450, 600]) {
    const home = join(at.home, `killed-${ms}`);
    mkdirSync(home);
    await importApart(home, file, '', (child) => setTimeout(() => child.kill('SIGKILL'), ms));
    const store = openStore(home);
    expect(store.db.pragma('integrity_check', { simple: true })).toBe('ok');
    const [session] = store.session.list();
    left.add(store.request.count());
    if (!session) expect(contents(store)).toMatchObject({ message: [], message_node: [], import_source: [] });
    await importSessions(store, file, SESSION_READERS);
    expect(contents(store)).toEqual(whole);
    // Nothing of a half one stays behind when it is deleted.
    new Recorder(store).deleteSession(store.session.list()[0]!.id);
    expect(Object.values(contents(store)).flat()).toEqual([]);
    store.close();
  }
  expect(Math.max(...left)).toBeLessThanOrEqual(turns);
});

it('leaves nothing behind when the half of a session that a kill left is deleted', { timeout: 60_000 }, async () => {
  const file = join(at.home, 'long.jsonl');
  writeLongSession(file, 24);
  const home = join(at.home, 'half');
  mkdirSync(home);
  const store = openStore(home);
  await importApart(home, file, '', (child) => {
    const timer = setInterval(() => {
      if (store.request.count() === 0) return;
      clearInterval(timer);
      child.kill('SIGKILL');
    }, 2);
  });
  const [half] = store.session.list();
  expect(half?.requests).toBe(store.request.count());
  expect(store.db.prepare('SELECT count(*) FROM import_source').pluck().get()).toBe(0);
  new Recorder(store).deleteSession(half!.id);
  expect(Object.values(contents(store)).flat()).toEqual([]);
  store.close();
});

it('lets others write in the middle of a long session', { timeout: 120_000 }, async () => {
  const file = join(at.home, 'long.jsonl');
  const turns = writeLongSession(file, 24);
  const home = join(at.home, 'shared');
  mkdirSync(home);
  const store = openStore(home);
  store.db.pragma('busy_timeout = 5000');
  let done = false;
  let written = 0;
  const seen: number[] = [];
  const writing = (async () => {
    while (!done) {
      store.setSetting('turn', written++);
      seen.push(store.request.count());
      await sleep(5);
    }
  })();
  await importApart(home, file, 'shared', () => undefined);
  done = true;
  await writing;
  const [session] = store.session.list();
  expect(session?.requests).toBe(turns);
  expect(seen.filter((count) => count > 0 && count < turns).length).toBeGreaterThan(2);
  store.close();
});

it('holds a line of a file in memory, not the file', { timeout: 600_000 }, () => {
  const file = join(at.home, 'long.jsonl');
  const turns = writeLongSession(file, FILE_MB);
  const home = join(at.home, 'measured');
  mkdirSync(home);
  const run = spawnSync(process.execPath, [runner.file, home, file, 'measure'], { encoding: 'utf8' });
  const { requests, beganBytes, peakBytes } = JSON.parse(run.stdout.split('\n')[1]!) as Record<string, number>;
  expect(requests).toBe(turns);
  const addedMb = (peakBytes! - beganBytes!) / MEGABYTE;
  console.log(`a session of ${FILE_MB} MB: ${addedMb.toFixed(0)} MB more memory`);
  expect(addedMb).toBeLessThan(MEMORY_MB);
});

it('a line beyond the limit is skipped by its number', async () => {
  const file = join(at.home, 'wide.jsonl');
  const fd = openSync(file, 'w');
  const put = (text: string): void => {
    writeSync(fd, text);
  };
  for (const line of PI_LINES.slice(0, 4)) put(`${JSON.stringify(line)}\n`);
  put('{"type":"message","id":"wide","message":{"role":"user","content":"');
  for (let i = 0; i < 65; i++) put('x'.repeat(MEGABYTE));
  put('"}}\n');
  put(`${JSON.stringify(PI_LINES.at(-3))}\n`);
  closeSync(fd);
  const { sessions, skipped } = await at.import(file);
  expect(skipped).toEqual([{ path: file, line: 5, reason: 'longer than 64 MiB' }]);
  expect(sessions[0]?.session.requests).toBe(1);
});

it(`${SESSIONS} sessions imported twice are ${SESSIONS} sessions`, { timeout: 600_000 }, async () => {
  const source = join(at.home, 'many');
  for (let i = 0; i < SESSIONS; i++) {
    const dir = join(source, `--project-${i % 40}--`);
    mkdirSync(dir, { recursive: true });
    const [header, ...lines] = PI_LINES.map((line) => JSON.stringify(line));
    const text = [header!.replace('made-up-pi', `made-up-${i}`), ...lines]
      .join('\n')
      .replace('Fix the test', `Fix test ${i}`);
    writeFileSync(join(dir, `${i}.jsonl`), text);
  }
  const began = performance.now();
  const first = await at.import(source);
  const firstMs = performance.now() - began;
  expect(first.sessions).toHaveLength(SESSIONS);
  const before = contents(at.store);
  const again = performance.now();
  const second = await at.import(source);
  const secondMs = performance.now() - again;
  expect(second.sessions.map(({ session, added }) => [session.id, added])).toEqual(
    first.sessions.map(({ session }) => [session.id, 0]),
  );
  expect(contents(at.store)).toEqual(before);
  console.log(`${SESSIONS} sessions: ${(firstMs / 1000).toFixed(1)} s, again ${(secondMs / 1000).toFixed(1)} s`);
});
