// `npm run harnesses`: the tests that run the real pi, opencode and hermes. Here none may be missing.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  [
    'run',
    'tests/harness/connect-real.test.ts',
    'tests/harness/real-outcomes',
    'tests/proxy/real-',
    '--project',
    'unit',
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, TACKROOM_HARNESSES: '1' } },
);
process.exitCode = status ?? 1;
