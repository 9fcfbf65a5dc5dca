import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPi } from '../../main/harness/find-pi.js';
import type { WorkerSession } from '../../main/proxy/protocol.js';
import { RolloutPool } from '../../main/rollout/pool.js';
import type { RolloutJob, RolloutResult } from '../../main/rollout/protocol.js';
import { detectSandbox } from '../../main/sandbox/detect.js';
import type { SandboxDriver } from '../../main/sandbox/sandbox.js';
import { RpcClient } from '../../main/services/rpc.js';
import { commands, type Script } from '../harness/scripted-model.js';
import { type ScriptedGateway, startScriptedGateway } from './scripted-gateway.js';

const pi = await findPi().catch(() => null);
const { driver } = await detectSandbox();
const TASK = fileURLToPath(new URL('../fixtures/rollout/add-one', import.meta.url));
const solve = 'echo $(($(cat in.txt) + 1)) > out.txt';

/** What the model does is decided by the adapter's name. */
const scripts: Record<string, Script> = {
  solves: commands(solve),
  wanders: commands('ls', 'cat in.txt', solve),
  fails: commands('echo 40 > out.txt'),
  kills: commands('kill -9 -1'),
  lasts: commands('sleep 7401'),
  naps: commands('sleep 3.7401'),
  refuses: () => ({ status: 403 }),
};

describe.skipIf(!pi || !driver)('a rollout pool (needs the installed pi and a sandbox)', () => {
  const root = mkdtempSync(join(tmpdir(), 'tackroom-pool-'));
  const rpcPath = join(root, 'gateway.sock');
  const paths = { rollouts: join(root, 'rollouts'), sockets: join(root, 'run') };
  const gatewayClient = new RpcClient(rpcPath, 'gateway', 5000);
  let gateway: ScriptedGateway;
  let pool: RolloutPool;
  let counter = 0;

  const scriptFor = (session: WorkerSession): Script => scripts[session.adapter ?? 'solves'] as Script;
  const job = (adapter: string, more: Partial<RolloutJob> = {}): RolloutJob => ({
    id: `job-${counter++}`,
    taskDir: TASK,
    taskId: 'add-one',
    group: 'g',
    split: 'train',
    adapter,
    sampling: { temperature: 0.8, seed: 7 },
    maxCalls: 15,
    maxPromptTokens: 4096,
    deadlineMs: 20_000,
    profile: 'training',
    ...more,
  });
  const runAll = async (jobs: Iterable<RolloutJob> | AsyncIterable<RolloutJob>, signal?: AbortSignal) => {
    const results: RolloutResult[] = [];
    const summary = await pool.run(jobs, { onResult: (result) => void results.push(result), signal });
    return { results, summary };
  };
  const running = (marker: string): number =>
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.startsWith(marker)).length;

  beforeAll(async () => {
    for (const dir of Object.values(paths)) mkdirSync(dir);
    gateway = await startScriptedGateway(rpcPath, scriptFor);
    pool = await RolloutPool.create({
      workers: 2,
      gateway: gatewayClient,
      driver: driver as SandboxDriver,
      pi: pi!,
      paths,
    });
  });
  afterAll(async () => {
    await pool.close();
    expect(readdirSync(paths.rollouts)).toEqual([]);
    expect(readdirSync(paths.sockets)).toEqual([]);
    gatewayClient.close();
    await gateway.kill();
    rmSync(root, { recursive: true });
  });

  it('runs jobs and scores what the real harness did', async () => {
    const { results, summary } = await runAll(['solves', 'wanders', 'fails', 'solves'].map((name) => job(name)));
    expect(summary).toEqual({ done: 4, unscored: {} });
    const of = (name: string) => results.find((result) => result.job.adapter === name) as RolloutResult;
    expect(of('solves')).toMatchObject({ verifier: 1, calls: 1, finish: 'stop', error: null });
    expect(of('solves').reward).toBeCloseTo(1 + 0.1 * (1 - 1 / 15), 12);
    expect(of('wanders').reward).toBeCloseTo(1 + 0.1 * (1 - 3 / 15), 12);
    expect(of('fails')).toMatchObject({ verifier: 0, reward: 0, calls: 1 });
    expect(of('wanders').trace).toHaveLength(4);
    expect(gateway.sessions[0]).toMatchObject({
      harness: 'pi',
      origin: 'rollout',
      title: 'Read in.txt, add one to the number in it, and write the sum to out.txt.',
      sampling: { temperature: 0.8, seed: 7 },
      maxCalls: 15,
    });
  });

  it('keeps all workers busy with jobs that come one by one', async () => {
    let open = 0;
    let most = 0;
    async function* jobs(): AsyncGenerator<RolloutJob> {
      for (let index = 0; index < 4; index++) {
        most = Math.max(most, ++open);
        yield job('solves');
      }
    }
    const results: RolloutResult[] = [];
    await pool.run(jobs(), {
      onResult: (result) => {
        open--;
        results.push(result);
      },
    });
    expect(results.map((result) => result.verifier)).toEqual([1, 1, 1, 1]);
    expect(most).toBe(2);
  });

  it('goes on after rollouts that broke, and counts why they have no score', async () => {
    const broken = mkdtempSync(join(root, 'task-'));
    cpSync(TASK, broken, { recursive: true });
    writeFileSync(join(broken, 'tests', 'test.sh'), 'exit 0\n');
    const jobs = [
      job('kills'),
      job('lasts', { deadlineMs: 1500 }),
      job('refuses'),
      job('solves', { taskDir: broken }),
      job('solves', { taskDir: join(root, 'no-task') }),
      job('solves'),
      job('solves'),
    ];
    const { results, summary } = await runAll(jobs);
    expect(summary).toEqual({ done: 7, unscored: { harness: 1, deadline: 1, model: 1, verifier: 1, task: 1 } });
    for (const result of results.filter((one) => one.verifier === null)) {
      expect(result.reward).toBeNull();
      expect(result.error).toBeTruthy();
    }
    expect(results.filter((one) => one.error === null).map((one) => one.verifier)).toEqual([1, 1]);
    expect(results.find((result) => result.job.adapter === 'kills')?.trace.length).toBeGreaterThan(0);
    expect(running('sleep 7401')).toBe(0);
  });

  it('survives a gateway that dies under it: no score, and the next job works', async () => {
    const first = runAll([job('naps')]);
    while (running('sleep 3.7401') === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await gateway.kill();
    gateway = await startScriptedGateway(rpcPath, scriptFor);
    const { results, summary } = await first;
    expect(results[0]).toMatchObject({ verifier: null, reward: null, trace: [] });
    expect(summary.unscored).toEqual({ gateway: 1 });
    expect((await runAll([job('solves'), job('solves')])).results.map((result) => result.verifier)).toEqual([1, 1]);
  });

  it('survives a sandbox that is killed from outside', async () => {
    const first = runAll([job('lasts')]);
    while (running('sleep 7401') === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    execFileSync('bash', [
      '-c',
      "kill -9 $(pgrep -f -o '^sleep 7401' | xargs -I{} ps -o ppid= -p {} | xargs -I{} ps -o ppid= -p {})",
    ]);
    const { results, summary } = await first;
    expect(results[0]).toMatchObject({ verifier: null, reward: null });
    expect(summary.unscored).toEqual({ harness: 1 });
    expect((await runAll([job('solves')])).results[0]?.verifier).toBe(1);
  });

  it('stops when cancelled, and can be used again', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 500);
    const started = Date.now();
    await expect(runAll([job('lasts'), job('lasts'), job('lasts')], controller.signal)).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(Date.now() - started).toBeLessThan(5000);
    expect(running('sleep 7401')).toBe(0);
    expect((await runAll([job('solves')])).results[0]?.verifier).toBe(1);
  });

  it('refuses to run twice at a time', async () => {
    const first = runAll([job('solves')]);
    await expect(runAll([job('solves')])).rejects.toMatchObject({ code: 'BUSY' });
    await first;
  });
});
