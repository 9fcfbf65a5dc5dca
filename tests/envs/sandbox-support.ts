import { describe, it, vi } from 'vitest';
import { detectSandbox } from '../../main/sandbox/detect.js';
import type { SandboxDriver } from '../../main/sandbox/sandbox.js';

/** A case may start forty sandboxes: seconds on an idle machine, a minute on a crowded one. */
vi.setConfig({ testTimeout: 180_000 });

const { driver, checks } = await detectSandbox();

/** A `describe` whose cases run real sandboxes; where none works one skipped test says why. */
export function describeSandbox(name: string, cases: (driver: SandboxDriver) => void): void {
  describe(name, () => {
    if (driver) cases(driver);
    else
      it('needs a sandbox', ({ skip }) =>
        skip(`no sandbox works here (${checks.map((check) => `${check.name}: ${check.detail}`).join('; ')}): ${name}`));
  });
}
