/** The closing table: base against adapter on the test tasks. Form for machines: design of `demo --out` in docs/cli.md. */
import type { Evaluation, Rollout } from '../../contract/records.js';
import { table } from '../cli/table.js';
import { passByTask } from '../train/evaluate.js';
import { mean, pairedDifference } from '../train/statistics.js';

export interface PolicyFigures {
  pass1: number;
  ci95: [number, number];
  greedy_pass1: number;
  greedy_ci95: [number, number];
  calls_per_solved: number | null;
  greedy_calls_per_solved: number | null;
  /** Tokens generated in the sampled evaluation. */
  tokens: number;
  /** Sum over its rollouts. */
  seconds: number;
  unscored: number;
}

export interface Paired {
  pass1_diff: number;
  ci95: [number, number];
}

export interface DemoReport {
  seed: number;
  seconds: number;
  setup_seconds: number | null;
  stages: { name: string; seconds: number }[];
  test: { tasks: number; trained_on: number; chosen_on: number };
  base: PolicyFigures;
  adapter: PolicyFigures;
  paired: Paired;
  greedy_paired: Paired;
  recorded: { sessions: number; requests: number; tool_calls: number };
  tasks: { built: number; kept: number; dropped: Record<string, number> };
  harness: { name: string; version: string };
  checkpoint: { step: number; validation_pass1: number };
}

export interface EvaluationPair {
  sampled: { evaluation: Evaluation; rollouts: Rollout[] };
  greedy: { evaluation: Evaluation; rollouts: Rollout[] };
}

export function figures(pair: EvaluationPair): PolicyFigures {
  const { evaluation, rollouts } = pair.sampled;
  const solvedGreedy = pair.greedy.rollouts.filter((r) => r.verifier === 1);
  return {
    pass1: evaluation.pass1,
    ci95: evaluation.ci95,
    greedy_pass1: pair.greedy.evaluation.pass1,
    greedy_ci95: pair.greedy.evaluation.ci95,
    calls_per_solved: evaluation.callsPerSolved,
    greedy_calls_per_solved: solvedGreedy.length ? mean(solvedGreedy.map((r) => r.calls)) : null,
    tokens: evaluation.tokens,
    seconds: rollouts.reduce((sum, r) => sum + r.seconds, 0),
    unscored: rollouts.filter((r) => r.verifier === null).length,
  };
}

/** Over the tasks that both policies have a score for. */
export function paired(base: Rollout[], adapter: Rollout[]): Paired {
  const before = passByTask(base);
  const after = passByTask(adapter);
  const tasks = [...before.keys()].filter((id) => after.has(id)).sort();
  const { diff, ci95 } = pairedDifference(
    tasks.map((id) => before.get(id)!),
    tasks.map((id) => after.get(id)!),
  );
  return { pass1_diff: diff, ci95 };
}

const percent = (p: number): string => `${(100 * p).toFixed(1)} %`;
const interval = ([low, high]: [number, number]): string => `[${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;
const decimal = (x: number | null): string => (x === null ? '-' : x.toFixed(2));
const signed = (x: number): string => `${x >= 0 ? '+' : ''}${(100 * x).toFixed(1)} points`;

export function reportText(report: DemoReport, temperature: number): string {
  const { base, adapter } = report;
  const fewer =
    base.calls_per_solved && adapter.calls_per_solved ? 1 - adapter.calls_per_solved / base.calls_per_solved : null;
  const rows = [
    [
      `pass@1, temperature ${temperature}`,
      `${percent(base.pass1)} ${interval(base.ci95)}`,
      `${percent(adapter.pass1)} ${interval(adapter.ci95)}`,
      `${signed(report.paired.pass1_diff)} ${interval(report.paired.ci95)}`,
    ],
    [
      'pass@1, greedy',
      `${percent(base.greedy_pass1)} ${interval(base.greedy_ci95)}`,
      `${percent(adapter.greedy_pass1)} ${interval(adapter.greedy_ci95)}`,
      `${signed(report.greedy_paired.pass1_diff)} ${interval(report.greedy_paired.ci95)}`,
    ],
    [
      'tool calls per solved task',
      decimal(base.calls_per_solved),
      decimal(adapter.calls_per_solved),
      fewer === null ? '-' : `${percent(-fewer)}`,
    ],
    ['the same, greedy', decimal(base.greedy_calls_per_solved), decimal(adapter.greedy_calls_per_solved), ''],
    ['seconds per task', decimal(base.seconds / report.test.tasks), decimal(adapter.seconds / report.test.tasks), ''],
    [
      'tokens per task',
      (base.tokens / report.test.tasks).toFixed(0),
      (adapter.tokens / report.test.tasks).toFixed(0),
      '',
    ],
  ];
  return table([`${report.test.tasks} test tasks`, 'base', 'adapter', 'difference (paired, 95 %)'], rows);
}
