/**
 * Measures the engine beside llama.cpp and PyTorch on this machine and prints one table of ratios.
 *
 * usage: node scripts/bench-engine.mjs [--only NAME,...] [--quick] [--threads N] [--rounds N] [--repeats N] [--check]
 *   NAME: decode, prefill, lora, train, tree, yield, planner (default: all)
 *   --quick: one round, fewer settings of the peers       --check: exit code 1 when a bar is missed
 * The peers come from `npm run bench:peers`; a peer that is not there leaves its column empty. Figures are the best of the
 * rounds; sides are measured in turn. Writes build/bench/engine.json.
 */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureLimits } from '../tests/bench/engine/limits.mjs';
import { measureOurs } from '../tests/bench/engine/ours/side.mjs';
import { output, realtimeAllowed } from '../tests/bench/engine/process.mjs';
import { decodeRows } from '../tests/bench/engine/rows/decode.mjs';
import { loraRows } from '../tests/bench/engine/rows/lora.mjs';
import { prefillRows } from '../tests/bench/engine/rows/prefill.mjs';
import { trainRows, treeRows, yieldRows } from '../tests/bench/engine/rows/train.mjs';
import { met, table } from '../tests/bench/engine/table.mjs';
import { available, modelFile, QUANTISATIONS, root } from './peers/paths.mjs';

const GROUPS = {
  decode: decodeRows,
  prefill: prefillRows,
  lora: loraRows,
  train: trainRows,
  tree: treeRows,
  yield: yieldRows,
};
const PLANNER = join(root, 'tests', 'bench', 'planner.mjs');

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string' },
    repeats: { type: 'string', default: '3' },
    check: { type: 'boolean', default: false },
  },
});
const names = values.only?.split(',') ?? [...Object.keys(GROUPS), 'planner'];
const unknown = names.find((name) => !(name in GROUPS) && name !== 'planner');
if (unknown !== undefined) {
  console.error(`There is no measurement ${unknown}. Measurements: ${Object.keys(GROUPS).join(', ')}, planner`);
  process.exit(2);
}
const have = available();
if (!have.models) {
  console.error('The models of the benchmark are not there. Run: npm run bench:peers');
  process.exit(2);
}

const log = (line) => console.error(line);
const attempt = async (what, body) => {
  try {
    return await body();
  } catch (error) {
    log(`${what}: ${error.message}`);
    return null;
  }
};
const threads = Number(values.threads);
const buildDir = join(root, 'build', 'bench');
mkdirSync(buildDir, { recursive: true });
const sizes = QUANTISATIONS.map((name) => statSync(modelFile(name)).size);
const context = {
  threads,
  repeats: Number(values.repeats),
  rounds: Number(values.rounds ?? (values.quick ? 1 : 3)),
  quick: values.quick,
  have,
  buildDir,
  log,
  limits: await attempt('limits', () => measureLimits(buildDir, threads, sizes)),
  model: await attempt('our engine', () => measureOurs({ measure: 'info', model: modelFile('Q8_0'), threads })),
};

const rows = [];
const failures = {};
for (const name of names.filter((each) => each !== 'planner')) {
  const found = await attempt(name, () => GROUPS[name](context));
  rows.push(...(found?.rows ?? []));
  if (found && Object.keys(found.failures).length > 0) failures[name] = found.failures;
}
let planner = null;
if (names.includes('planner') && existsSync(PLANNER))
  planner = await attempt('planner', async () => {
    // Exit code 1: a prediction was off, which its lines say.
    const run = (...models) =>
      output(process.execPath, [PLANNER, ...models], { accept: [0, 1], deadlineMs: 20 * 60_000 });
    return `${await run()}${await run(modelFile('Q8_0'))}`;
  });

const machine = {
  processor: cpus()[0]?.model.trim(),
  cores: cpus().length,
  bodies:
    context.model &&
    ['kernels', 'bf16Body', 'int16Body', 'int8Body'].map((name) => context.model.cpu[name]).filter(Boolean),
  realtime: realtimeAllowed,
  node: process.version,
  date: new Date().toISOString().slice(0, 10),
};
const report = { machine, peers: have, options: values, limits: context.limits, rows, failures, planner };
writeFileSync(join(buildDir, 'engine.json'), `${JSON.stringify(report, null, 1)}\n`);

console.log(
  `${machine.processor}, ${machine.cores} cores, ${threads} threads, ${machine.date}, kernels ${machine.bodies?.join(' + ') ?? '-'}`,
);
for (const { bytes, threads: by, gbs } of context.limits?.read ?? [])
  console.log(`read ${(bytes / 1e6).toFixed(0)} MB, ${by} thread${by > 1 ? 's' : ''}: ${gbs.toFixed(1)} GB/s`);
if (context.limits)
  console.log(
    `arithmetic from registers, GOP/s: ${Object.entries(context.limits.compute)
      .filter(([kind]) => kind !== 'threads')
      .map(([kind, value]) => `${kind} ${Math.round(value)}`)
      .join(', ')}`,
  );
console.log(`\n${table(rows)}`);
if (planner) console.log(`\n${planner.trim()}`);
for (const [name, sides] of Object.entries(failures))
  for (const [side, message] of Object.entries(sides)) console.log(`\n${name}: ${side} failed: ${message}`);
if (values.check && rows.some((row) => met(row) === false)) process.exitCode = 1;
