/** The drivers that work on this machine, with and without control groups, for tests that must hold for all of them. */
import { detectSandbox } from '../../main/sandbox/detect.js';
import type { SandboxDriver, SandboxLimits, SandboxSpec } from '../../main/sandbox/sandbox.js';

export interface DriverCase {
  label: string;
  driver: SandboxDriver;
}

async function detectOne(name: SandboxDriver['name'], cgroups: boolean): Promise<SandboxDriver | null> {
  const before = process.env.TACKROOM_SANDBOX;
  process.env.TACKROOM_SANDBOX = name;
  try {
    return (await detectSandbox({ cgroups })).driver;
  } finally {
    if (before === undefined) delete process.env.TACKROOM_SANDBOX;
    else process.env.TACKROOM_SANDBOX = before;
  }
}

export async function workingDrivers(): Promise<DriverCase[]> {
  const cases: DriverCase[] = [];
  for (const name of ['bubblewrap', 'userns'] as const) {
    for (const cgroups of [true, false]) {
      const driver = await detectOne(name, cgroups);
      if (!driver || (cgroups && driver.limits === 'rlimit')) continue;
      cases.push({ label: `${name}, ${driver.limits}`, driver });
    }
  }
  return cases;
}

export const LIMITS: SandboxLimits = {
  memoryBytes: 256 * 1024 * 1024,
  processes: 64,
  cpuSeconds: 20,
  fileBytes: 16 * 1024 * 1024,
  wallMs: 20_000,
};

export function shell(script: string, extra: Partial<SandboxSpec> = {}): SandboxSpec {
  return { name: 'test', argv: ['/bin/bash', '-c', script], env: {}, cwd: '/', mounts: [], limits: LIMITS, ...extra };
}
