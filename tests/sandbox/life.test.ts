import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { descendants } from '../../main/sandbox/process-tree.js';
import { runInSandbox } from '../../main/sandbox/run.js';
import type { SandboxProcess } from '../../main/sandbox/sandbox.js';
import { LIMITS, shell, workingDrivers } from './drivers.js';

const cases = await workingDrivers();

/** Waits until the sandbox says `word` on its standard output. */
async function says(sandbox: SandboxProcess, word: string): Promise<void> {
  let seen = '';
  while (!seen.includes(word)) seen += String((await once(sandbox.stdout, 'data'))[0]);
}

const running = (marker: string): string =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.startsWith(marker))
    .join('\n');

describe.skipIf(cases.length === 0).each(cases)('the life of a sandbox by $label', ({ driver, label }) => {
  const seconds = 7000 + cases.findIndex((one) => one.label === label);

  it('kills strays that hide behind sessions and double forks, and keeps the rest', async () => {
    const sandbox = await driver.spawn(
      shell(`(sleep ${seconds} &); echo ready; read; 
      setsid sleep ${seconds}.5 & (setsid bash -c "trap '' TERM HUP; sleep ${seconds}.25 & wait" &) ; echo planted; read; exit 5`),
    );
    await says(sandbox, 'ready');
    sandbox.keepRunning();
    sandbox.stdin.write('\n');
    await says(sandbox, 'planted');
    await sleep(50);
    expect(await sandbox.killStrays()).toBeGreaterThanOrEqual(3);
    expect(running(`sleep ${seconds}.`)).toBe('');
    expect(running(`sleep ${seconds}`)).toBe(`sleep ${seconds}`);
    expect(sandbox.intact()).toBe(true);
    expect(await sandbox.killStrays()).toBe(0);
    sandbox.stdin.write('\n');
    expect(await sandbox.exit).toMatchObject({ code: 5, limit: null });
    expect(running(`sleep ${seconds}`)).toBe('');
  });

  it('notices that a kept process is gone', async () => {
    const sandbox = await driver.spawn(
      shell(
        '(sleep 60 & echo $! > /tmp/pid); echo ready; read; p=$(cat /tmp/pid); kill $p; while kill -0 $p 2>/dev/null; do sleep 0.05; done; echo killed; read',
      ),
    );
    await says(sandbox, 'ready');
    sandbox.keepRunning();
    sandbox.stdin.write('\n');
    await says(sandbox, 'killed');
    expect(sandbox.intact()).toBe(false);
    sandbox.kill();
    expect((await sandbox.exit).code).toBe(128 + 9);
  });

  it.skipIf(driver.limits === 'rlimit' && process.getuid?.() === 0)('stops a fork bomb among the strays', async () => {
    const limits = { ...LIMITS, processes: 40 };
    const sandbox = await driver.spawn(
      shell('echo ready; read; (b() { b | b & }; b) 2>/dev/null & sleep 0.2; echo planted; read', { limits }),
    );
    await says(sandbox, 'ready');
    sandbox.keepRunning();
    sandbox.stdin.write('\n');
    await says(sandbox, 'planted');
    expect(await sandbox.killStrays()).toBeGreaterThan(0);
    expect(sandbox.intact()).toBe(true);
    sandbox.kill();
    await sandbox.exit;
  });

  it('ends at once when it is cancelled', async () => {
    const controller = new AbortController();
    const run = runInSandbox(driver, shell(`sleep ${seconds}.75`), { signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    await expect(run).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(running(`sleep ${seconds}.75`)).toBe('');
  });
});

describe.skipIf(cases.length === 0)('a parent that is killed', () => {
  const parent = fileURLToPath(new URL('./parent.mjs', import.meta.url));

  it.each(['bubblewrap', 'userns'].filter((name) => cases.some((one) => one.driver.name === name)))(
    'leaves nothing of a %s sandbox behind',
    async (name) => {
      const marker = name === 'userns' ? 'sleep 7101' : 'sleep 7102';
      const node = spawn(process.execPath, [parent, marker], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, TACKROOM_SANDBOX: name },
      });
      let seen = '';
      while (!seen.includes('ready')) seen += String((await once(node.stdout, 'data'))[0]);
      // The shell says so before its child has become the command.
      for (let wait = 0; wait < 250 && running(marker) !== marker; wait++) await sleep(20);
      expect(running(marker)).toBe(marker);
      expect(descendants(node.pid as number).length).toBeGreaterThanOrEqual(2);
      node.kill('SIGKILL');
      for (let wait = 0; wait < 100 && running(marker) !== ''; wait++) await sleep(20);
      expect(running(marker)).toBe('');
    },
  );
});
