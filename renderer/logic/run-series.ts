/** What the run page's charts draw, from the records of the run. */
import { METRIC } from '../../contract/metrics.js';
import type { Evaluation, Split, Step } from '../../contract/records.js';

export interface StepSeries {
  /** Step numbers, ascending. */
  x: number[];
  y: (number | null)[];
}

export function stepSeries(steps: readonly Step[], metric: string): StepSeries {
  return { x: steps.map((s) => s.step), y: steps.map((s) => s.metrics[metric] ?? null) };
}

export const rewardSeries = (steps: readonly Step[]): StepSeries => stepSeries(steps, METRIC.reward);
/** A step that solved nothing has no calls per solved task; the trainer logs 0 there. */
export function callsSeries(steps: readonly Step[]): StepSeries {
  const { x, y } = stepSeries(steps, METRIC.callsPerSolved);
  return { x, y: y.map((value) => (value === 0 ? null : value)) };
}
export const blockedSeries = (steps: readonly Step[]): StepSeries => stepSeries(steps, METRIC.blocked);

export interface ScorePoint {
  step: number;
  pass1: number;
  low: number;
  high: number;
  split: Split;
}

export interface Scores {
  points: ScorePoint[];
  /** The base model on the split that the points were measured on most. */
  base: number | null;
  split: Split;
}

/** Sampled evaluations of checkpoints by step; greedy ones (temperature 0) stay in the table only when sampled exist. */
export function scoreSeries(evaluations: readonly Evaluation[]): Scores {
  const sampled = evaluations.filter((e) => e.temperature > 0);
  const used = sampled.length ? sampled : [...evaluations];
  const split: Split = used.some((e) => e.checkpointId !== null && e.split === 'validation') ? 'validation' : 'test';
  const points = used
    .filter((e) => e.checkpointId !== null || e.split === split)
    .map((e) => ({ step: e.step, pass1: e.pass1, low: e.ci95[0], high: e.ci95[1], split: e.split }))
    .sort((a, b) => a.step - b.step || (a.split < b.split ? 1 : -1));
  const base = used.find((e) => e.checkpointId === null && e.split === split)?.pass1 ?? null;
  return { points, base, split };
}
