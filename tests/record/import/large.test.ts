/** Kills in the middle, files larger than memory should be, and very many sessions. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openStore } from '../../../main/store/store.js';
import { type Bundle, bundle } from '../bundle.js';
import { PI_LINES } from './sessions.js';
import { contents, type Home, openTestHome } from './support.js';

const MEGABYTE = 1024 * 1024;
/** A share of 1 GB; TACKROOM_IMPORT_MB=1000 reads the whole. */
const FILE_MB = Number(process.env.TACKROOM_IMPORT_MB ?? 128);
/** What a reading may add to the process, whatever the size of the file. */
const MEMORY_MB = 120;
const SESSIONS = Number(process.env.TACKROOM_IMPORT_SESSIONS ?? 1000);

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

it('killed at any moment leaves the whole session or none of it', { timeout: 120_000 }, async () => {
  const file = join(at.home, 'long.jsonl');
  const turns = writeLongSession(file, 8);
  const home = join(at.home, 'killed');
  mkdirSync(home);
  const outcomes = new Set<number>();
  for (const ms of [5, 60, 150, 300, 60_000]) {
    await new Promise<void>((resolve, reject) => {
      const child = spawn(process.execPath, [runner.file, home, file], { stdio: ['ignore', 'pipe', 'inherit'] });
      let timer: NodeJS.Timeout;
      child.stdout.once('data', () => {
        timer = setTimeout(() => child.kill('SIGKILL'), ms);
      });
      child.once('error', reject);
      child.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    const store = openStore(home);
    expect(store.db.pragma('integrity_check', { simple: true })).toBe('ok');
    const [session] = store.session.list();
    expect(store.request.count()).toBe(session?.requests ?? 0);
    if (!session) expect(contents(store)).toMatchObject({ message: [], message_node: [], import_source: [] });
    outcomes.add(session?.requests ?? 0);
    store.close();
  }
  expect([...outcomes].sort((a, b) => a - b)).toEqual([0, turns]);
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
