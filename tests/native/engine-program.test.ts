/** native/tests/engine_test.cc: every architecture serves and trains under AddressSanitizer and UndefinedBehaviorSanitizer. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packageRoot } from '../../native/addon.js';

const run = promisify(execFile);

// Compiling takes most of it: a minute on two idle cores, several on a busy machine.
it('the engine touches no memory but its own', { timeout: 600_000 }, async () => {
  const build = join(packageRoot(), 'scripts', 'build-native.mjs');
  await run(process.execPath, [build, '--sanitize', '--target', 'engine_test']);
  const { stdout } = await run(join(packageRoot(), 'build', 'native-engine-test-asan', 'engine_test'));
  expect(stdout).toMatch(/^\d{2,} checks, 0 failed\n$/);
});
