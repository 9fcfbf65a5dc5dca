// `npm run test:models`: the engine and the tokenizers against the reference outputs of every real model; fetches what is missing.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', 'tests/models-real', 'tests/native/real-models.test.ts', '--project', 'unit'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, TACKROOM_TEST_MODELS: '1' } },
);
process.exitCode = status ?? 1;
