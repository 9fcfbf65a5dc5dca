import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findPi } from '../../main/harness/find-pi.js';
import { PiWorker } from '../../main/harness/pi.js';
import { detectSandbox } from '../../main/sandbox/detect.js';
import type { SandboxDriver } from '../../main/sandbox/sandbox.js';

const { driver } = await detectSandbox();
const root = mkdtempSync(join(tmpdir(), 'tackroom-pi-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A folder laid out like a pi install whose "node" is a shell script. */
function install(name: string, script: string): string {
  const dir = join(root, name);
  const bin = join(dir, 'node_modules', 'node', 'bin');
  const bundle = join(dir, 'node_modules', '@earendil-works', 'pi-coding-agent', 'dist', 'bundle');
  for (const folder of [bin, bundle]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(bundle, 'cli.js'), '');
  writeFileSync(join(bundle, '..', '..', 'package.json'), '{"version":"9.9.9"}');
  writeFileSync(join(bin, 'node'), `#!/bin/bash\n${script}`);
  chmodSync(join(bin, 'node'), 0o755);
  return dir;
}

describe('finding pi', () => {
  it('says how to install it', async () => {
    await expect(findPi(join(root, 'nothing'))).rejects.toMatchObject({
      code: 'HARNESS_MISSING',
      hint: expect.stringContaining('install-pi.mjs'),
    });
  });
  it('reads the version', async () => {
    expect((await findPi(install('versioned', ''))).version).toBe('9.9.9');
  });
});

describe.skipIf(!driver)('a pi that does not work (needs a sandbox)', () => {
  const start = async (name: string, script: string, maxRestarts = 5): Promise<PiWorker> => {
    const socketDir = join(root, 'model');
    mkdirSync(socketDir, { recursive: true });
    const pi = await findPi(install(name, script));
    return PiWorker.start({
      name,
      driver: driver as SandboxDriver,
      pi,
      dir: join(root, `${name}-w`),
      socketDir,
      maxRestarts,
    });
  };

  it('is reported with what it said', async () => {
    await expect(start('broken', 'echo no such model >&2; exit 3')).rejects.toMatchObject({
      code: 'SERVICE_GONE',
      message: expect.stringContaining('code 3): no such model'),
    });
  });

  it('is started a second time when it was killed before it answered', async () => {
    const marker = join(root, 'model', 'still-here');
    mkdirSync(join(root, 'model'), { recursive: true });
    writeFileSync(marker, '');
    const killed = 'touch /work/waiting; while test -e /run/model/still-here; do sleep 0.05; done; kill -SEGV $$';
    const answers = `read -r line; echo '{"type":"response","id":"r1","success":true}'; read -r line`;
    const starting = start('killed', `if test -e /run/model/still-here; then ${killed}; fi; ${answers}`);
    const waiting = join(root, 'killed-w', 'scratch', 'work', 'waiting');
    await expect.poll(() => existsSync(waiting), { timeout: 20_000 }).toBe(true);
    rmSync(marker);
    const worker = await starting;
    await worker.close();
  });

  it('is not trusted when it talks nonsense', async () => {
    await expect(start('nonsense', 'echo hello; sleep 60')).rejects.toMatchObject({
      message: expect.stringContaining('not JSON'),
    });
  });

  it('is started only so often', async () => {
    const ready = `read -r line; echo '{"type":"response","id":"r1","success":true}'; read -r line; exit 9`;
    const worker = await start('dying', ready, 2);
    for (let attempt = 0; attempt < 3; attempt++)
      expect((await worker.run('x', { deadlineMs: 5000 })).error).toContain('pi ended (code 9)');
    await expect(worker.run('x', { deadlineMs: 5000 })).rejects.toMatchObject({ code: 'SERVICE_GONE' });
    await worker.close();
  });
});
