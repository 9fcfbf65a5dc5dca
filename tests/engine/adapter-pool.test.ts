import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdapterPool } from '../../main/engine/adapter-pool.js';
import { DEFAULT_LIMITS } from '../../main/engine/limits.js';
import { Scheduler } from '../../main/engine/scheduler.js';
import { demoModelDir } from '../../main/services/paths.js';
import type { NativeModel } from '../../native/addon.js';
import { addon, codeOf, scratchDir, trainedAdapter } from '../native/support.js';

const registry = join(scratchDir(), 'adapters');
let model: NativeModel;
const hashes: string[] = [];

beforeAll(async () => {
  mkdirSync(registry, { recursive: true });
  model = await addon.loadModel(demoModelDir(), { threads: 2 });
  for (let seed = 0; seed < 5; seed++) {
    const adapter = await trainedAdapter(model, seed, 2);
    hashes.push(adapter.hash());
    await adapter.save(join(registry, adapter.hash()), 'demo');
  }
});
afterAll(() => model.free());

describe('AdapterPool', () => {
  it('loads an adapter once for all who ask at the same time', async () => {
    let loads = 0;
    const counted = {
      loadAdapter: (dir: string) => {
        loads++;
        return model.loadAdapter(dir);
      },
    };
    const pool = new AdapterPool(counted, registry);
    const leases = await Promise.all([0, 0, 0, 1].map((i) => pool.acquire(hashes[i]!)));
    expect(loads).toBe(2);
    expect(pool.use()).toEqual([
      { hash: hashes[0], running: 3, dropped: false },
      { hash: hashes[1], running: 1, dropped: false },
    ]);
    for (const lease of leases) lease.release();
    leases[0]!.release();
    expect(pool.use().map(({ running }) => running)).toEqual([0, 0]);
  });

  it('lets a dropped adapter go with its last request, and tells who keeps things for it', async () => {
    const gone: string[] = [];
    const pool = new AdapterPool(model, join(registry, 'nowhere'), (hash) => gone.push(hash));
    const hash = pool.add(await model.loadAdapter(join(registry, hashes[0]!)));
    const [one, two] = [await pool.acquire(hash), await pool.acquire(hash)];
    pool.drop(hash);
    expect([pool.hashes, pool.use()]).toEqual([[], [{ hash, running: 2, dropped: true }]]);
    expect(await codeOf(() => pool.acquire(hash))).toBe('NOT_FOUND');
    one.release();
    expect(gone).toEqual([]);
    two.release();
    expect([gone, pool.use()]).toEqual([[hash], []]);
  });

  it('takes a dropped adapter back when it comes again', async () => {
    const gone: string[] = [];
    const pool = new AdapterPool(model, registry, (hash) => gone.push(hash));
    const lease = await pool.acquire(hashes[2]!);
    pool.drop(hashes[2]!);
    const again = await pool.acquire(hashes[2]!);
    lease.release();
    again.release();
    expect([gone, pool.hashes]).toEqual([[], [hashes[2]]]);
  });

  it('refuses a folder that holds another adapter than its name says', async () => {
    const wrong = 'ab'.repeat(32);
    await (await model.loadAdapter(join(registry, hashes[0]!))).save(join(registry, wrong), 'demo');
    expect(await codeOf(() => new AdapterPool(model, registry).acquire(wrong))).toBe('ADAPTER_CORRUPT');
    expect(await codeOf(() => new AdapterPool(model, registry).acquire('../x'))).toBe('BAD_ARGUMENT');
  });
});

it('swaps 200 times under load: no request fails, each ends on the version it began with, decoding goes on', async () => {
  const scheduler = new Scheduler(model, { ...DEFAULT_LIMITS, kvBytes: 64 << 20 });
  const pool = new AdapterPool(model, registry, (hash) => scheduler.dropAdapter(hash));
  const prompt = Int32Array.from({ length: 40 }, (_, i) => 20 + ((i * 37) % 900));
  const ask = async (hash: string): Promise<number[]> => {
    const lease = await pool.acquire(hash);
    try {
      const { completionIds } = await scheduler.generate(prompt, {
        adapterKey: hash,
        adapter: lease.adapter,
        sample: { temperature: 0, seed: 0 },
        maxTokens: 24,
        endIds: new Set(),
      });
      return completionIds;
    } finally {
      lease.release();
    }
  };
  const expected = new Map<string, string>();
  for (const hash of hashes) expected.set(hash, (await ask(hash)).join());
  expect(new Set(expected.values()).size).toBe(hashes.length);

  let current = hashes[0]!;
  let swapping = true;
  let answers = 0;
  const failures: string[] = [];
  const client = async (): Promise<void> => {
    while (swapping) {
      const hash = current;
      try {
        const ids = await ask(hash);
        if (ids.join() !== expected.get(hash)) failures.push(`another version answered for ${hash.slice(0, 8)}`);
        answers++;
      } catch (error) {
        failures.push(String(error));
      }
    }
  };
  const clients = Array.from({ length: 6 }, client);
  for (let swap = 1; swap <= 200; swap++) {
    const before = current;
    const next = hashes[swap % hashes.length]!;
    await pool.load(join(registry, next));
    current = next;
    pool.drop(before);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  swapping = false;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(answers).toBeGreaterThan(50);
  expect(pool.use()).toEqual([{ hash: current, running: 0, dropped: false }]);
  expect(scheduler.status().kv.runningBytes).toBe(0);
}, 60_000);
