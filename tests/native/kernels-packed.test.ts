/** Builds and runs native/tests: every body of the 16-, 8- and 4-bit products that this processor runs. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packageRoot } from '../../native/addon.js';

const run = promisify(execFile);
const script = join(packageRoot(), 'scripts', 'build-native.mjs');

/** What the program printed: the body of each level, and how many checks it made. */
async function kernelsTest(
  build: '--tests' | '--sanitize',
  args: string[],
): Promise<{ levels: string[]; checks: number }> {
  await run(process.execPath, [script, build]);
  const folder = build === '--tests' ? 'native-tests' : 'native-tests-asan';
  const { stdout } = await run(join(packageRoot(), 'build', folder, 'kernels_test'), args);
  const total = /^(\d+) checks, 0 failed$/m.exec(stdout);
  if (total === null) throw new Error(`no total in: ${stdout}`);
  return { levels: [...stdout.matchAll(/^level (\w+):/gm)].map((m) => m[1] ?? ''), checks: Number(total[1]) };
}

it('agrees with double precision, and every body with every other', { timeout: 180_000 }, async () => {
  const { levels, checks } = await kernelsTest('--tests', []);
  expect(levels[0]).toBe('baseline');
  expect(checks).toBeGreaterThan(2000);
});

// The sanitizers make the compiler slow: 15 s on two idle cores, minutes on a busy machine.
it('touches no memory but its own', { timeout: 300_000 }, async () => {
  const { checks } = await kernelsTest('--sanitize', ['--quick']);
  expect(checks).toBeGreaterThan(1000);
});
