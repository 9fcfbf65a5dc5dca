/** A fixed share of `npm run fuzz`: damaged weight files end in an error with a code, never in a crash. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packageRoot } from '../../native/addon.js';

const run = promisify(execFile);
const COUNT = 2000;

it('the readers of weight files survive damaged files', { timeout: 600_000 }, async () => {
  const script = join(packageRoot(), 'scripts', 'build-native.mjs');
  await run(process.execPath, [script, '--sanitize', '--target', 'fuzz_readers']);
  const program = join(packageRoot(), 'build', 'native-fuzz-readers-asan', 'fuzz_readers');
  const { stdout } = await run(program, ['--count', String(COUNT), '--seed', '20261129']);
  const rows = [...stdout.matchAll(/^(\w+): (\d+) inputs in .* s of the processor, (\d+) accepted/gm)];
  expect(rows.map((row) => row[1])).toEqual(['folder', 'gguf', 'peft', 'lora']);
  for (const row of rows) {
    expect(Number(row[2])).toBe(COUNT);
    // Inputs that are all refused at the first byte would prove nothing.
    expect(Number(row[3])).toBeGreaterThan(COUNT / 50);
  }
});
