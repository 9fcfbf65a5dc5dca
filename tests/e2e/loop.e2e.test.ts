/**
 * The short loop end to end on the built program: real pi, real sandbox, real engine. A demo of two steps, then the same
 * with each process killed in the middle of its training.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePlanted } from '../../main/demo/plant.js';
import type { DemoReport } from '../../main/demo/report.js';
import { openStore, type Store } from '../../main/store/store.js';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/tackroom.mjs');
const READY = [
  'dist/main/cli/index.js',
  'build/demo-model/model.safetensors',
  'build/native/engine.node',
  '.harness/pi/node_modules',
].every((path) => existsSync(join(ROOT, path)));
const LIMIT_MS = 240_000;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tackroom-loop-'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

interface Started {
  child: ChildProcess;
  home: string;
  state: string;
  out: string;
  ended: Promise<number | null>;
  said(): string;
}

function startDemo(name: string, seed: number): Started {
  const home = join(dir, name);
  const out = join(dir, `${name}.json`);
  const child = spawn(
    process.execPath,
    [BIN, '--home', home, 'demo', '--short', '--seed', String(seed), '--out', out],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return { child, home, state: join(home, `short-${seed}`), out, ended, said: () => said };
}

/** Waits until the run has done a step, with the store open meanwhile. */
async function untilTraining(demo: Started): Promise<Store> {
  await expect.poll(() => existsSync(join(demo.state, 'tackroom.db')), { timeout: 60_000 }).toBe(true);
  const store = openStore(demo.state);
  await expect
    .poll(() => store.rollout.list().filter((r) => r.split === 'train').length + (demo.child.exitCode ?? 0), {
      timeout: 120_000,
      interval: 50,
    })
    .toBeGreaterThan(1);
  return store;
}

const report = (demo: Started): DemoReport => JSON.parse(readFileSync(demo.out, 'utf8')) as DemoReport;

describe('the loop with the real pi', () => {
  if (!READY) {
    it('needs a set-up checkout', ({ skip }) => skip('the addon, pi or the demo model is missing: run npm run setup'));
    return;
  }

  it('records, sanitizes, builds, trains, swaps and tests', { timeout: LIMIT_MS }, async () => {
    const demo = startDemo('plain', 3);
    expect(await demo.ended, demo.said()).toBe(0);
    const table = report(demo);
    expect(table.harness).toEqual({ name: 'pi', version: '1.6.0' });
    expect(table.test).toMatchObject({ tasks: 3, trained_on: 0, chosen_on: 0 });
    expect(table.tasks.kept).toBe(table.tasks.built);
    const store = openStore(demo.state);
    try {
      const requests = store.request.list();
      expect(requests.length).toBe(table.recorded.requests);
      const sampled = requests.filter((r) => !r.synthetic && r.upstream === null && r.status === 'ok');
      expect(sampled.every((r) => r.promptTokens > 0 && r.completionTokens > 0)).toBe(true);
      const adapter = store.adapter.list()[0]!;
      const deployment = store.deployment.list({ where: { harness: 'pi' } })[0]!;
      expect(deployment.adapterHash).toBe(adapter.hash);
      expect(requests.some((r) => r.adapterHash === adapter.hash)).toBe(true);
      // From the adapter back to the sessions it learned from.
      const learned = store.rollout.list({ where: { runId: adapter.runId } }).filter((r) => r.split === 'train');
      expect(learned.length).toBe(16);
      expect(learned.every((r) => r.sessionId !== null && store.session.get(r.sessionId) !== undefined)).toBe(true);
      const steps = store.step.list({ where: { runId: adapter.runId } });
      expect(steps.map((s) => s.step).sort()).toEqual([1, 2]);
      const repair = store.task.list().find((t) => t.kind === 'repair')!;
      expect(repair.status).toBe('kept');
      expect(store.candidate.get(repair.candidateId!)?.sessionId).toMatch(/^ses/);
    } finally {
      store.close();
    }
    const atif = readFileSync(((await stage(demo, 'sanitize')) as { atif: string }).atif, 'utf8');
    for (const secret of Object.values(makePlanted(3))) expect(atif).not.toContain(secret);
    expect((JSON.parse(atif) as { schema_version: string }).schema_version).toBe('ATIF-v1.7');
    // Started again it has nothing to do and says the same.
    const again = spawnSync(
      process.execPath,
      [BIN, '--home', demo.home, 'demo', '--short', '--seed', '3', '--out', demo.out],
      { encoding: 'utf8' },
    );
    expect(again.status, again.stderr).toBe(0);
    expect(report(demo).adapter).toEqual(table.adapter);
    const clean = spawnSync(process.execPath, [BIN, '--home', demo.home, 'demo', '--clean'], { encoding: 'utf8' });
    expect(clean.status).toBe(0);
    expect(existsSync(demo.home)).toBe(false);
  });

  for (const victim of ['main', 'engine', 'gateway'] as const)
    it(`goes on after its ${victim} process was killed in training`, { timeout: LIMIT_MS }, async () => {
      const demo = startDemo(`kill-${victim}`, 4);
      const store = await untilTraining(demo);
      const before = new Set(store.session.list().map((s) => s.id));
      const requests = store.request.count();
      expect(demo.child.exitCode, demo.said()).toBeNull();
      if (victim === 'main') {
        demo.child.kill('SIGKILL');
        await demo.ended;
        const resumed = startDemo(`kill-${victim}`, 4);
        expect(await resumed.ended, resumed.said()).toBe(0);
        expect(resumed.said()).toContain('done before');
      } else {
        const pid = childPid(demo.child.pid!, victim === 'engine' ? 'engine/entry.js' : 'proxy/entry.js');
        process.kill(pid, victim === 'engine' ? 'SIGSEGV' : 'SIGKILL');
        expect(await demo.ended, demo.said()).toBe(0);
        expect(demo.said()).toContain(`The ${victim} ended`);
      }
      const after = new Set(store.session.list().map((s) => s.id));
      expect([...before].filter((id) => !after.has(id))).toEqual([]);
      expect(store.request.count()).toBeGreaterThanOrEqual(requests);
      expect(store.run.list()[0]).toMatchObject({ status: 'done', step: 2 });
      store.close();
      expect(report(demo).test.tasks).toBe(3);
    });
});

async function stage(demo: Started, name: string): Promise<unknown> {
  const store = openStore(demo.state);
  try {
    return (store.setting('demo') as { done: Record<string, unknown> }).done[name];
  } finally {
    store.close();
  }
}

function childPid(parent: number, entry: string): number {
  const children = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)], { encoding: 'utf8' }).stdout;
  const line = children.split('\n').find((l) => l.includes(entry));
  if (!line) throw new Error(`no ${entry} under ${parent}:\n${children}`);
  return Number(line.trim().split(/\s+/)[0]);
}
