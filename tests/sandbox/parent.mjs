// A process that starts a sandbox and then waits to be killed. Arguments: the command to run inside.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const source = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const { module: detect } = await runnerImport(source('main/sandbox/detect.ts'));
const driver = await detect.requireSandbox();
const sandbox = await driver.spawn({
  name: 'orphan',
  argv: ['/bin/bash', '-c', `setsid ${process.argv[2]} & echo ready; wait`],
  env: {},
  cwd: '/',
  mounts: [],
  limits: { memoryBytes: 2 ** 28, processes: 32, cpuSeconds: 60, fileBytes: 2 ** 20, wallMs: null },
});
sandbox.stdout.pipe(process.stdout);
