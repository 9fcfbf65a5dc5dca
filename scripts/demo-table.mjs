// Prints the table of docs/demo.md from the files that `tackroom demo --out` wrote:
//   for s in 0 1 2; do npx tackroom demo --seed $s --out out$s.json; done; node scripts/demo-table.mjs out*.json
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
if (reports.length === 0) {
  console.error('Name one or more files written by `tackroom demo --out`.');
  process.exit(2);
}
const percent = (p) => (100 * p).toFixed(1);
const interval = ([low, high]) => `[${percent(low)}, ${percent(high)}]`;
const change = (before, after) => `${(100 * (after / before - 1)).toFixed(0)} %`;
const row = (name, cell) => `| ${[name, ...reports.map(cell)].join(' | ')} |`;
const stage = (name) => (r) => `${Math.round(r.stages.find((s) => s.name === name)?.seconds ?? 0)} s`;

console.log(
  [
    row('', (r) => `seed ${r.seed}`),
    `|${'---|'.repeat(reports.length + 1)}`,
    row('test tasks (trained on / chosen on)', (r) => `${r.test.tasks} (${r.test.trained_on} / ${r.test.chosen_on})`),
    row('base, pass@1 sampled, %', (r) => `${percent(r.base.pass1)} ${interval(r.base.ci95)}`),
    row('adapter, pass@1 sampled, %', (r) => `${percent(r.adapter.pass1)} ${interval(r.adapter.ci95)}`),
    row('**paired difference, points**', (r) => `**${percent(r.paired.pass1_diff)}** ${interval(r.paired.ci95)}`),
    row('base, pass@1 greedy, %', (r) => `${percent(r.base.greedy_pass1)} ${interval(r.base.greedy_ci95)}`),
    row('adapter, pass@1 greedy, %', (r) => `${percent(r.adapter.greedy_pass1)} ${interval(r.adapter.greedy_ci95)}`),
    row(
      'paired difference greedy, points',
      (r) => `${percent(r.greedy_paired.pass1_diff)} ${interval(r.greedy_paired.ci95)}`,
    ),
    row('tool calls per solved task, base', (r) => r.base.calls_per_solved.toFixed(2)),
    row('tool calls per solved task, adapter', (r) => r.adapter.calls_per_solved.toFixed(2)),
    row('**change of tool calls**', (r) => `**${change(r.base.calls_per_solved, r.adapter.calls_per_solved)}**`),
    row(
      'tokens per task, base / adapter',
      (r) => `${(r.base.tokens / r.test.tasks).toFixed(0)} / ${(r.adapter.tokens / r.test.tasks).toFixed(0)}`,
    ),
    row(
      'seconds per task, base / adapter',
      (r) => `${(r.base.seconds / r.test.tasks).toFixed(2)} / ${(r.adapter.seconds / r.test.tasks).toFixed(2)}`,
    ),
    row(
      'checkpoint chosen, its validation pass@1',
      (r) => `step ${r.checkpoint.step}, ${percent(r.checkpoint.validation_pass1)} %`,
    ),
    row(
      'recorded sessions / requests / tool calls',
      (r) => `${r.recorded.sessions} / ${r.recorded.requests} / ${r.recorded.tool_calls}`,
    ),
    row('unscored test rollouts', (r) => r.base.unscored + r.adapter.unscored),
    row('tasks, trials on each', stage('tasks')),
    row('training with validation', stage('train')),
    row('test, four evaluations', stage('test')),
    row('whole demo after set-up', (r) => `${Math.floor(r.seconds / 60)} min ${Math.round(r.seconds % 60)} s`),
  ].join('\n'),
);
console.log(
  `\n${cpus()[0].model.trim()}, ${cpus().length} cores, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}.`,
);
