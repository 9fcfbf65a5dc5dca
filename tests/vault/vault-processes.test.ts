/** Real processes that write the same vault, and are killed while they do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { withLock } from '../../main/services/process-lock.js';
import { Vault } from '../../main/vault/vault.js';
import { type Bundle, bundle } from '../record/bundle.js';

const KILLS = 12;
let writer: Bundle;
let holder: Bundle;
let home: string;
beforeAll(async () => {
  writer = await bundle('tests/vault/writer.ts');
  holder = await bundle('tests/vault/lock-holder.ts');
}, 60_000);
afterAll(() => {
  writer.remove();
  holder.remove();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-vaults-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

interface Running {
  child: ChildProcess;
  /** Lines it has said. */
  said: string[];
  /** Its exit code, once all was said. */
  ended: Promise<unknown>;
}

function start(...args: string[]): Running {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    said.push(...lines);
  });
  return { child, said, ended: once(child, 'close').then(([code]) => code as unknown) };
}
async function kill({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

it('loses nothing that was said to be kept, however often writers are killed', async () => {
  const kept: string[] = [];
  for (let i = 0; i < KILLS; i++) {
    const running = start(writer.file, home, `k${i}`);
    await expect.poll(() => running.said.length, { interval: 1 }).toBeGreaterThan(i % 3);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
    await kill(running);
    kept.push(...running.said);
    const vault = new Vault(home);
    expect(vault.list()).toEqual(expect.arrayContaining(kept));
  }
  await new Vault(home).put('last', 'x');
  expect(readdirSync(home).sort()).toEqual(['vault.bin', 'vault.key', 'vault.lock']);
}, 120_000);

it('takes what several processes write at once', async () => {
  const all = ['a', 'b', 'c'].map((prefix) => start(writer.file, home, prefix, '10'));
  const own = (async () => {
    for (let i = 0; i < 10; i++) await new Vault(home).put(`own-${i}`, 'x');
  })();
  expect(await Promise.all(all.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  await own;
  expect(new Vault(home).list()).toHaveLength(40);
}, 60_000);

it('waits for a lock and says for whom, and has it as soon as its holder was killed', async () => {
  const file = join(home, 'a.lock');
  const running = start(holder.file, file);
  await expect.poll(() => running.said).toEqual(['held']);
  const named = `process ${running.child.pid}, holding on`;
  const heard: string[] = [];
  const options = { what: 'waiting', waitMs: 100, onWait: (who: string) => void heard.push(who) };
  await expect(withLock(file, options, () => 1)).rejects.toMatchObject({
    code: 'BUSY',
    message: expect.stringContaining(named) as string,
  });
  expect(heard).toEqual([named]);
  const waiting = withLock(file, { ...options, waitMs: 20_000 }, () => 'mine');
  await kill(running);
  expect(await waiting).toBe('mine');
});
