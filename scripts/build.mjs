// Builds what runs from source: TypeScript into dist/, the window's bridge and the window.
import { dist, preload, renderer } from './setup/build-steps.mjs';
import { killAll } from './setup/execute.mjs';
import { takeLock } from './setup/lock.mjs';
import { say } from './setup/progress.mjs';
import { runPlan } from './setup/runner.mjs';

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    killAll();
    process.exit(130);
  });
try {
  const release = await takeLock((pid) => say(`Waiting for a set-up of this checkout (process ${pid})...`));
  await runPlan([dist, preload, renderer], { quiet: false });
  release();
} catch (error) {
  say(`The build failed: ${error.message}`);
  process.exitCode = 1;
}
