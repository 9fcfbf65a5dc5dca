import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnUtility } from '../../main/app/processes.js';
import { Supervisor } from '../../main/services/supervisor.js';

const dir = mkdtempSync(join(tmpdir(), 'tackroom-utility-'));
const entry = join(dir, 'service.mjs');

beforeAll(() =>
  writeFileSync(
    entry,
    `console.log(JSON.stringify({ ready: true, args: process.argv.slice(2), pid: process.pid }));
     if (process.argv.includes("stubborn")) process.on("SIGTERM", () => {});
     setInterval(() => {}, 1000);`,
  ),
);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const supervise = (args: string[]) =>
  new Supervisor<{ args: string[]; pid: number }>({ name: 'engine', entry, args, spawn: spawnUtility });

describe('services as utility processes', () => {
  it('become ready, get their arguments and stop', async () => {
    const service = supervise(['--x', '1']);
    const ready = await service.start();
    expect(ready.args).toEqual(['--x', '1']);
    expect(service.pid).toBe(ready.pid);
    await service.stop();
    expect(() => process.kill(ready.pid, 0)).toThrow();
  });

  it('are ended by force when they do not listen', async () => {
    const service = supervise(['stubborn']);
    const { pid } = await service.start();
    await service.stop(200);
    expect(() => process.kill(pid, 0)).toThrow();
  });

  it('are started again when they die', async () => {
    const service = supervise([]);
    const first = await service.start();
    process.kill(first.pid, 'SIGKILL');
    await expect.poll(async () => (await service.start()).pid, { timeout: 5000 }).not.toBe(first.pid);
    await service.stop();
  });
});
