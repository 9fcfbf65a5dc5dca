// Makes a checkout ready to run. Checks first what the machine must bring, then installs and builds only what changed;
// when nothing did, it is done in about a second. Needs nothing but Node.js: it runs before `npm ci`.
// Usage: node scripts/setup.mjs [--for demo|test|start|harnesses] [--verbose]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dist, native, preload, renderer, sandbox, tokenizer } from './setup/build-steps.mjs';
import { killAll } from './setup/execute.mjs';
import { hermes, opencode } from './setup/harnesses.mjs';
import { takeLock } from './setup/lock.mjs';
import { packages, pi, sqlite } from './setup/packages.mjs';
import { BUILD } from './setup/paths.mjs';
import { missingPrerequisites } from './setup/prerequisites.mjs';
import { say } from './setup/progress.mjs';
import { runPlan } from './setup/runner.mjs';
import { systemPackages } from './setup/system.mjs';
import { tools } from './setup/tools.mjs';

/** In order of how much waits for a step: the runner takes the first that can start. */
const BASE = [packages, pi, tools, native, sqlite, sandbox, dist, preload, renderer, tokenizer];
const TEST = [...BASE, opencode, hermes, systemPackages];
const PLANS = { demo: BASE, start: BASE, test: TEST, harnesses: TEST };

function fail(message, exitCode) {
  say(message);
  process.exitCode = exitCode;
}

async function main() {
  const began = Date.now();
  const { values } = parseArgs({
    options: { for: { type: 'string', default: 'start' }, verbose: { type: 'boolean' } },
  });
  const plan = PLANS[values.for];
  if (!plan) return fail(`--for takes ${Object.keys(PLANS).join(', ')}, not "${values.for}".`, 2);

  const missing = missingPrerequisites();
  if (missing.length > 0) {
    const lines = missing.map(({ missing: what, hint }) => `  ✗ ${what}\n      ${hint}`);
    return fail(`Tackroom cannot be set up yet. Missing:\n${lines.join('\n')}`, 1);
  }

  const release = await takeLock((pid) => say(`Waiting for another set-up of this checkout (process ${pid})...`));
  try {
    say(`Setting up Tackroom (${values.for})`);
    const steps = await runPlan(plan, { quiet: !values.verbose });
    const seconds = (Date.now() - began) / 1000;
    mkdirSync(BUILD, { recursive: true });
    writeFileSync(join(BUILD, 'setup.json'), `${JSON.stringify({ seconds, steps }, null, 1)}\n`);
    say(`Set-up is done (${seconds.toFixed(1)} s).`);
  } finally {
    release();
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    killAll();
    say('Set-up was stopped; finished steps are kept and the next run goes on from there.');
    process.exit(130);
  });

try {
  await main();
} catch (error) {
  fail(`Set-up failed: ${error.message}`, 1);
}
