import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCgroupHome } from '../../main/sandbox/cgroups.js';
import { runInSandbox } from '../../main/sandbox/run.js';
import { LIMITS, shell, workingDrivers } from './drivers.js';

const cases = await workingDrivers();
const isRoot = process.getuid?.() === 0;

/** Control groups of this process that still exist. */
function leftoverGroups(): string[] {
  const parents = findCgroupHome()?.parents ?? [];
  return parents.flatMap((dir) => readdirSync(dir).filter((name) => name.startsWith(`tackroom-${process.pid}-`)));
}

describe.skipIf(cases.length === 0).each(cases)('limits by $label', ({ driver }) => {
  it('stop a memory hog', async () => {
    const run = await runInSandbox(driver, shell(`python3 -c "x=bytearray(b'x')*(600*1024*1024); print('got it')"`));
    expect(run.stdout).toBe('');
    expect(run.code).not.toBe(0);
    if (driver.limits !== 'rlimit') expect(run.limit).toBe('memory');
  });

  // The kernel does not count processes of root's user id against a resource limit.
  it.skipIf(driver.limits === 'rlimit' && isRoot)('bound a fork bomb, which dies with its sandbox', async () => {
    const script =
      'b() { b | b & }; ulimit -c 0; b 2>/dev/null; sleep 0.4; ls /proc | grep -c "^[0-9]" || true; exit 3';
    const run = await runInSandbox(driver, shell(script, { limits: { ...LIMITS, processes: 24, wallMs: 1200 } }));
    const seen = Number(run.stdout.trim() || 0);
    expect(seen).toBeLessThanOrEqual(26);
    expect(run.limit === 'wall' || run.code !== 0).toBe(true);
  });

  it('end a sandbox whose processes become too many', async () => {
    const script = 'for i in $(seq 300); do sleep 30 & done 2>/dev/null; wait';
    const run = await runInSandbox(driver, shell(script, { limits: { ...LIMITS, processes: 24, wallMs: 2000 } }));
    // Where the number is bounded beforehand it never gets that far, and the wall clock ends it.
    expect(run.code).toBe(128 + 9);
    if (driver.limits === 'rlimit' && isRoot) expect(run.limit).toBeNull();
  });

  it('end a sandbox at its wall-clock time', async () => {
    const started = Date.now();
    const run = await runInSandbox(driver, shell('sleep 30 & sleep 30', { limits: { ...LIMITS, wallMs: 300 } }));
    expect(run.limit).toBe('wall');
    expect(Date.now() - started).toBeLessThan(3000);
  });

  it('end a process at its CPU time', async () => {
    const run = await runInSandbox(driver, shell('while :; do :; done', { limits: { ...LIMITS, cpuSeconds: 1 } }));
    expect(run.code).toBe(128 + 9);
  });

  it('bound the size of a file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tackroom-test-'));
    const spec = shell('head -c 2000000 /dev/zero > /rw/big; stat -c %s /rw/big', {
      mounts: [{ source: dir, target: '/rw', readonly: false }],
      limits: { ...LIMITS, fileBytes: 1_000_000 },
    });
    expect((await runInSandbox(driver, spec)).stdout.trim()).toBe('1000000');
    rmSync(dir, { recursive: true });
  });

  it('cut output that is too long, without stalling the command', async () => {
    const run = await runInSandbox(driver, shell('head -c 3000000 /dev/zero | tr "\\0" x; exit 4'), {
      maxOutputBytes: 1000,
    });
    expect(run).toMatchObject({ code: 4, truncated: true });
    expect(run.stdout).toBe('x'.repeat(1000));
  });

  it('leave no control group behind', () => {
    expect(leftoverGroups()).toEqual([]);
  });
});
