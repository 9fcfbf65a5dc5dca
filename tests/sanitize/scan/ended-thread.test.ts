import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./ended-thread.mjs', import.meta.url));

/** What is cancelled in the window ends so; before, the addon took the whole server along. */
it('a thread that is ended in the middle of a scan leaves the process alive', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, '15']);
  expect(stdout).toBe('ended 15\n');
});
