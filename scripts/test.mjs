// The checks behind `npm test`: types, style, unit and end-to-end tests, and a count of what was skipped and why.
// Exit 0 only when all pass. Extra arguments go to vitest: npm test -- tests/guard
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const skipReport = join(root, 'build', 'logs', 'skipped.json');
const sharedPresent = existsSync(join(dirname(root), 'shared', 'golden'));
const TOTAL_DEADLINE_MS = 25 * 60_000;
const startedAt = Date.now();

/** Runs one check with its output passed through; resolves with its exit code, 124 at the deadline. */
function run(name, command, args) {
  const leftMs = TOTAL_DEADLINE_MS - (Date.now() - startedAt);
  if (leftMs <= 0) {
    console.error(`${name}: not started, the ${TOTAL_DEADLINE_MS / 60_000} minutes of npm test are over.`);
    return Promise.resolve(124);
  }
  console.log(`\n== ${name}`);
  const began = Date.now();
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH: path, TACKROOM_SKIP_REPORT: skipReport };
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env, shell: process.platform === 'win32' });
  return new Promise((resolve) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      console.error(`${name}: stopped, npm test ran past ${TOTAL_DEADLINE_MS / 60_000} minutes.`);
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
    }, leftMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      console.error(`${name}: could not start: ${error.message}`);
      resolve(1);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      console.log(`== ${name}: ${code === 0 ? 'passed' : 'FAILED'} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
      resolve(late ? 124 : (code ?? 1));
    });
  });
}

/** A skip that is no excuse where ../shared lies beside the checkout. */
const NEEDS_SHARED = /\.\.\/shared|beside the checkout|golden|corpus|recorded|recordings/i;
/** The reason of a model that only `npm run test:models` fetches (tests/support/real-models.ts). */
const NOT_FETCHED = 'TACKROOM_TEST_MODELS=1 fetches it';

/** Prints what was skipped, by reason (the test's name where it gave none). Returns the sentences that fail the run. */
function judgeSkips() {
  if (!existsSync(skipReport)) return ['vitest wrote no report of skipped tests.'];
  const { total, skipped } = JSON.parse(readFileSync(skipReport, 'utf8'));
  console.log(`\n== skipped: ${skipped.length} of ${total} tests`);
  for (const [reason, tests] of groupByReason(skipped)) console.log(`  ${tests.length} × ${reason}`);
  const expected = ({ name, reason }) => !reason?.includes(NOT_FETCHED) && NEEDS_SHARED.test(`${name} ${reason}`);
  const mandatory = sharedPresent ? skipped.filter(expected) : [];
  return [
    ...mandatory.map((test) => `${test.file} "${test.name}" is skipped although ../shared is there.`),
    ...(total === 0 ? ['no test ran at all.'] : []),
  ];
}

function groupByReason(tests) {
  const groups = new Map();
  for (const test of tests) {
    const reason = test.reason ?? `${test.name} (${test.file} says no more)`;
    groups.set(reason, [...(groups.get(reason) ?? []), test]);
  }
  return groups;
}

const filters = process.argv.slice(2);
mkdirSync(dirname(skipReport), { recursive: true });
rmSync(skipReport, { force: true });
const codes = [
  await run('types', 'tsc', ['-p', 'tsconfig.json', '--noEmit']),
  await run('style', 'biome', ['check', '.']),
  await run('tests', 'vitest', ['run', '--passWithNoTests=false', ...filters]),
];
const complaints = judgeSkips();
for (const complaint of complaints) console.error(`FAILED: ${complaint}`);
const failed = codes.find((code) => code !== 0) ?? (complaints.length > 0 ? 1 : 0);
console.log(
  `\n${failed === 0 ? 'All checks passed' : 'Checks FAILED'} in ${((Date.now() - startedAt) / 1000).toFixed(0)} s.`,
);
process.exitCode = failed;
