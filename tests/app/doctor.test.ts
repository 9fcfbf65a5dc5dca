import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { formatChecks } from '../../main/cli/doctor/check.js';
import {
  checkAddon,
  checkCpu,
  checkGpu,
  checkNode,
  checkScan,
  probeAddon,
} from '../../main/cli/doctor/engine-checks.js';
import { checkDisk, checkPorts, checkSandbox } from '../../main/cli/doctor/system-checks.js';
import { doctorCommand } from '../../main/cli/doctor.js';

const dir = mkdtempSync(join(tmpdir(), 'tackroom-doctor-'));
const script = (name: string, code: string): string => {
  writeFileSync(join(dir, name), code);
  return join(dir, name);
};
const cpu = {
  brand: 'X',
  avx2: true,
  avx512: false,
  avx512bf16: false,
  amx: false,
  kernels: 'avx2',
  bf16Body: '',
  int16Body: 'avx2',
  int8Body: 'avx2',
  threads: 2,
};
let server: Server | undefined;

afterEach(() => {
  server?.close();
  server = undefined;
  delete process.env.TACKROOM_SANDBOX;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('single checks', () => {
  it('wants Node.js 20', () => {
    expect(checkNode('18.20.0')).toMatchObject({ status: 'failed', hint: expect.stringContaining('20') });
    expect(checkNode('22.1.0').status).toBe('ok');
  });

  it('survives an addon that crashes, and says how it ended', async () => {
    const crash = script('crash.mjs', "process.kill(process.pid, 'SIGSEGV'); setTimeout(() => {}, 1000);");
    const probed = await probeAddon(crash);
    expect(checkAddon(probed)).toMatchObject({ status: 'failed', detail: expect.stringContaining('SIGSEGV') });
    expect(checkCpu(probed).status).toBe('warning');
  });

  it('shows what the addon found', async () => {
    const probe = script('ok.mjs', `process.send({ ok: true, cpu: ${JSON.stringify(cpu)} });`);
    const probed = await probeAddon(probe);
    expect(checkAddon(probed)).toMatchObject({ status: 'ok', detail: 'loads; avx2 kernels, 2 threads' });
    expect(checkCpu(probed)).toMatchObject({ status: 'ok', detail: 'X; AVX2' });
    expect(checkCpu({ ok: true, cpu: { ...cpu, avx2: false } }).detail).toContain('no vector extensions');
  });

  it('says which scan the sanitizer has, and why', () => {
    expect(checkScan({ ok: false, reason: 'x', scan: '' })).toMatchObject({ status: 'ok', detail: 'native' });
    for (const scan of ['wrong ELF class\nmore', undefined])
      expect(checkScan({ ok: true, cpu, ...(scan && { scan }) })).toMatchObject({
        status: 'warning',
        detail: expect.stringMatching(/^in TypeScript, .*: (?:wrong ELF class|The process that loads it ended\.)$/),
        hint: expect.stringContaining('npm run setup'),
      });
  });

  it('tells no GPU from a GPU whose driver is not loaded', () => {
    expect(checkGpu(null, false)).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('the processor is used'),
    });
    expect(checkGpu('/usr/lib/libcuda.so.1', true).status).toBe('ok');
    expect(checkGpu('/usr/lib/libcuda.so.1', false).status).toBe('warning');
  });

  it('names ports that are taken', async () => {
    const taken = await new Promise<number>((resolve) => {
      server = createServer().listen(0, '127.0.0.1', () => resolve((server!.address() as { port: number }).port));
    });
    expect(await checkPorts([taken])).toMatchObject({ status: 'warning', detail: `in use: ${taken}` });
    await new Promise((resolve) => server!.close(resolve));
    expect((await checkPorts([taken])).status).toBe('ok');
  });

  it('measures the disk of a home that does not exist yet', () => {
    expect(checkDisk(join(dir, 'not', 'yet')).detail).toContain(dir);
  });

  it('fails without a sandbox and says what to install', async () => {
    process.env.TACKROOM_SANDBOX = 'none';
    const check = await checkSandbox();
    expect(check.status).toBe(process.platform === 'linux' ? 'failed' : 'warning');
    expect(check.hint).toContain('bubblewrap');
  });
});

describe('the command', () => {
  const run = async (json: boolean): Promise<{ code: number; text: string }> => {
    const stdout = new PassThrough();
    const code = await doctorCommand({ home: dir, json }, { stdout });
    const text = String(stdout.read());
    return { code, text };
  };

  it('prints the agreed JSON and exits 1 exactly when a check failed', async () => {
    process.env.TACKROOM_SANDBOX = 'none';
    const { code, text } = await run(true);
    const { checks } = JSON.parse(text) as { checks: Record<string, string>[] };
    for (const check of checks) expect(Object.keys(check).sort()).toEqual(['detail', 'hint', 'id', 'status', 'title']);
    expect(checks.map((check) => check.id)).toEqual([
      'node',
      'addon',
      'cpu',
      'gpu',
      'scan',
      'sandbox',
      'harnesses',
      'connections',
      'disk',
      'ports',
      'browser',
    ]);
    expect(code).toBe(checks.some((check) => check.status === 'failed') ? 1 : 0);
  });

  it('numbers its lines and puts hints below', () => {
    const text = formatChecks([
      { id: 'a', title: 'Alpha', status: 'ok', detail: 'fine', hint: '' },
      { id: 'b', title: 'Be', status: 'failed', detail: 'broken', hint: 'mend it' },
    ]);
    expect(text).toBe(' 1  ok    Alpha  fine\n 2  FAIL  Be     broken\n                 -> mend it\n');
  });
});
