import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../contract/records.js';
import { newId } from '../../main/store/ids.js';
import { openStore, type Store } from '../../main/store/store.js';

let home: string;
let store: Store;
const run = (change: Partial<Run> = {}): Run => ({
  id: newId('run'),
  version: 1,
  createdAt: 1,
  updatedAt: 1,
  name: 'n',
  status: 'planned',
  step: 0,
  steps: 2,
  config: {},
  error: null,
  waitingFor: null,
  etaMs: null,
  bestCheckpointId: null,
  ...change,
});

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'store-'));
  store = openStore(home);
});
afterEach(() => {
  store.close();
  rmSync(home, { recursive: true });
});

describe('store', () => {
  it('is for its owner alone, also one that was not', () => {
    const file = join(home, 'tackroom.db');
    const rights = (name: string): number => statSync(name).mode & 0o777;
    expect([rights(file), rights(`${file}-wal`)]).toEqual([0o600, 0o600]);
    store.close();
    chmodSync(file, 0o644);
    store = openStore(home);
    expect(rights(file)).toBe(0o600);
  });

  it('gives back what was put, filtered, ordered and counted', () => {
    for (let i = 0; i < 5; i++) store.run.put(run({ id: `r${i}`, createdAt: i, status: i % 2 ? 'done' : 'running' }));
    expect(store.run.list().map((r) => r.id)).toEqual(['r4', 'r3', 'r2', 'r1', 'r0']);
    expect(store.run.list({ where: { status: 'done' }, descending: false, limit: 1 })[0]!.id).toBe('r1');
    expect(store.run.count({ where: { status: 'running' } })).toBe(3);
    expect(store.run.update('r1', (r) => ({ ...r, step: 2 }))!.step).toBe(2);
    expect(store.run.delete('r1')).toBe(true);
    expect(store.run.get('r1')).toBeUndefined();
  });
  it('refuses a record of the wrong shape and a query without an index', () => {
    expect(() => store.run.put({ ...run(), step: -1 })).toThrow();
    expect(() => store.run.list({ where: { name: 'n' } })).toThrow(/index/);
    expect(() => store.run.list({ orderBy: 'id; DROP TABLE run' })).toThrow(/index/);
  });
  it('survives a second opener and a newer schema is refused, not changed', () => {
    const other = openStore(home);
    other.run.put(run({ id: 'x' }));
    expect(store.run.get('x')?.id).toBe('x');
    other.db.pragma('user_version = 999');
    other.close();
    expect(() => openStore(home)).toThrow(/newer/);
  });
  it('names a file that is no database', () => {
    const broken = mkdtempSync(join(tmpdir(), 'store-'));
    writeFileSync(
      join(broken, 'tackroom.db'),
      'not a database at all, but long enough to be looked at by SQLite '.repeat(20),
    );
    expect(() => openStore(broken)).toThrow(/cannot be opened/);
    rmSync(broken, { recursive: true });
  });
  it('keeps every acknowledged record through kill -9', async () => {
    const script = join(home, 'writer.mjs');
    writeFileSync(
      script,
      `import Database from ${JSON.stringify(import.meta.resolve('better-sqlite3'))};
       const db = new Database(process.argv[2]); db.pragma('busy_timeout = 10000'); db.pragma('synchronous = FULL');
       const put = db.prepare("INSERT INTO setting (key, value) VALUES (?, '1')");
       for (let i = 0; ; i++) { put.run('k' + i); process.stdout.write(i + '\\n'); }`,
    );
    const child = spawn(process.execPath, [script, join(home, 'tackroom.db')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let acknowledged = '';
    child.stdout.on('data', (d) => {
      acknowledged += d;
    });
    await expect.poll(() => acknowledged.split('\n').length, { timeout: 10_000 }).toBeGreaterThan(50);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    const last = Number(acknowledged.split('\n').filter(Boolean).at(-1));
    const kept = store.db.prepare("SELECT count(*) AS n FROM setting WHERE key LIKE 'k%'").get() as { n: number };
    expect(kept.n).toBeGreaterThanOrEqual(last + 1);
  });
});
