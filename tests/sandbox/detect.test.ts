import { afterEach, describe, expect, it } from 'vitest';
import { detectSandbox, requireSandbox } from '../../main/sandbox/detect.js';
import { resolvePython } from '../../main/sandbox/python.js';
import { UsernsDriver } from '../../main/sandbox/userns.js';
import { LIMITS, workingDrivers } from './drivers.js';

const cases = await workingDrivers();

describe('finding a sandbox', () => {
  const before = process.env.TACKROOM_SANDBOX;
  afterEach(() => {
    if (before === undefined) delete process.env.TACKROOM_SANDBOX;
    else process.env.TACKROOM_SANDBOX = before;
  });

  it('says what to install when there is none', async () => {
    process.env.TACKROOM_SANDBOX = 'none';
    expect((await detectSandbox()).driver).toBeNull();
    await expect(requireSandbox()).rejects.toMatchObject({
      code: 'NO_SANDBOX',
      hint: expect.stringContaining('apt-get install bubblewrap'),
    });
  });

  it('refuses a name it does not know', async () => {
    process.env.TACKROOM_SANDBOX = 'chroot';
    await expect(detectSandbox()).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  });

  it.skipIf(cases.length === 0)('names the driver and how limits are enforced', async () => {
    delete process.env.TACKROOM_SANDBOX;
    const { driver, checks } = await detectSandbox();
    expect(driver).not.toBeNull();
    expect(checks.find((check) => check.name === driver?.name)).toMatchObject({ ok: true });
    expect(checks.find((check) => check.name === driver?.name)?.detail).toContain(driver?.limits);
  });

  it.skipIf(process.platform !== 'linux')('says so when the launcher cannot be run', async () => {
    const driver = new UsernsDriver({ launcher: '/nowhere/sandbox-launch', python: null }, null);
    const spec = { name: 'x', argv: ['true'], env: {}, cwd: '/', mounts: [], limits: LIMITS };
    await expect(driver.spawn(spec)).rejects.toMatchObject({ code: 'NO_SANDBOX' });
  });

  it.skipIf(process.platform !== 'linux')('resolves python3 to an interpreter, not to a shim', async () => {
    const python = await resolvePython();
    expect(python?.version).toMatch(/^3\.\d+\.\d+$/);
    expect(python?.executable).not.toContain('shims');
  });
});
