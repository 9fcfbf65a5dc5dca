import { describe, expect, it } from 'vitest';
import type { EventMessage } from '../../contract/events.js';
import type { Evaluation, Step } from '../../contract/records.js';
import type { RunDetail } from '../../contract/views.js';
import { type ChartSpec, valueRange } from '../../renderer/charts/chart-spec.js';
import { applyRunEvent } from '../../renderer/logic/run-reducer.js';
import { callsSeries, rewardSeries, scoreSeries } from '../../renderer/logic/run-series.js';

const detail: RunDetail = {
  run: {
    id: 'r',
    version: 1,
    createdAt: 0,
    name: 'r',
    status: 'running',
    step: 2,
    steps: 10,
    config: {},
    error: null,
    updatedAt: 0,
    waitingFor: null,
    etaMs: null,
    bestCheckpointId: null,
  },
  steps: [1, 2].map((step) => ({
    id: `s${step}`,
    version: 1 as const,
    createdAt: step,
    runId: 'r',
    step,
    metrics: { reward: step / 10 },
  })),
  evaluations: [],
  checkpoints: [],
  rollouts: { total: 4, unscored: 1, blocked: 0 },
};
const step = (n: number, reward: number, runId = 'r'): EventMessage => ({
  event: 'run.step',
  data: { runId, step: n, at: n * 100, metrics: { reward } },
});
const evaluation = (change: Partial<Evaluation>): Evaluation => ({
  id: 'e',
  version: 1,
  createdAt: 0,
  runId: 'r',
  checkpointId: 'c',
  adapterHash: 'h',
  step: 5,
  split: 'validation',
  temperature: 1,
  tasks: 10,
  rollouts: 10,
  pass1: 0.5,
  ci95: [0.4, 0.6],
  callsPerSolved: 2,
  tokens: 1,
  seconds: 1,
  ...change,
});

describe('applyRunEvent', () => {
  it('adds a step in its place and moves the run on', () => {
    const next = [step(4, 0.4), step(3, 0.3)].reduce(applyRunEvent, detail);
    expect(rewardSeries(next.steps)).toEqual({ x: [1, 2, 3, 4], y: [0.1, 0.2, 0.3, 0.4] });
    expect(next.run.step).toBe(4);
    expect(detail.steps).toHaveLength(2);
  });

  it('takes a step twice without doubling it', () => {
    const next = [step(3, 0.3), step(3, 0.35)].reduce(applyRunEvent, detail);
    expect(rewardSeries(next.steps)).toEqual({ x: [1, 2, 3], y: [0.1, 0.2, 0.35] });
  });

  it('leaves other runs and other events alone, to the very object', () => {
    expect(applyRunEvent(detail, step(3, 0.3, 'other'))).toBe(detail);
    expect(applyRunEvent(detail, { event: 'window.resync', data: {} })).toBe(detail);
    expect(applyRunEvent(detail, { event: 'run.status', data: { run: { ...detail.run, id: 'other' } } })).toBe(detail);
  });

  it('replaces an evaluation of the same id and takes the status', () => {
    const first: EventMessage = { event: 'run.evaluation', data: { runId: 'r', evaluation: evaluation({}) } };
    const again: EventMessage = {
      event: 'run.evaluation',
      data: { runId: 'r', evaluation: evaluation({ pass1: 0.7 }) },
    };
    const done: EventMessage = { event: 'run.status', data: { run: { ...detail.run, status: 'done' } } };
    const next = [first, again, done].reduce(applyRunEvent, detail);
    expect(next.evaluations.map(({ pass1 }) => pass1)).toEqual([0.7]);
    expect(next.run.status).toBe('done');
  });
});

describe('series', () => {
  it('has a gap where a metric is missing, and where nothing was solved', () => {
    const steps: Step[] = [
      { ...detail.steps[0]!, metrics: {} },
      { ...detail.steps[1]!, metrics: { 'tools/calls_per_solved': 0 } },
    ];
    expect(rewardSeries(steps).y).toEqual([null, null]);
    expect(callsSeries(steps).y).toEqual([null, null]);
  });

  it('draws checkpoints on the split they were chosen on, against the base model on the same split', () => {
    const scores = scoreSeries([
      evaluation({ id: 'a', step: 10, pass1: 0.6 }),
      evaluation({ id: 'b', step: 0, checkpointId: null, pass1: 0.3 }),
      evaluation({ id: 'c', step: 0, checkpointId: null, split: 'test', pass1: 0.35 }),
      evaluation({ id: 'd', step: 10, split: 'test', pass1: 0.58 }),
      evaluation({ id: 'e', step: 10, temperature: 0, pass1: 0.9 }),
    ]);
    expect(scores.base).toBe(0.3);
    expect(scores.split).toBe('validation');
    expect(scores.points.map(({ step: at, pass1, split }) => [at, pass1, split])).toEqual([
      [0, 0.3, 'validation'],
      [10, 0.6, 'validation'],
      [10, 0.58, 'test'],
    ]);
  });

  it('is empty without evaluations', () => {
    expect(scoreSeries([])).toEqual({ points: [], base: null, split: 'test' });
  });
});

describe('valueRange', () => {
  const spec = (change: Partial<ChartSpec>): ChartSpec => ({
    id: 'x',
    title: '',
    unit: '',
    x: [1, 2],
    series: [],
    format: String,
    fromZero: false,
    ...change,
  });
  const series = (values: (number | null)[], low?: number[], high?: number[]): ChartSpec['series'] => [
    { label: '', colour: 'reward', kind: 'line', values, low, high },
  ];

  it('holds intervals and the base line, and respects limits', () => {
    const range = valueRange(
      spec({ series: series([0.5, 0.9], [0.4, 0.8], [0.6, 1]), baseline: { label: '', value: 0.2 }, limits: [0, 1] }),
    );
    expect(range[0]).toBeCloseTo(0.12);
    expect(range[1]).toBe(1);
  });
  it('starts at zero only when nothing lies below', () => {
    expect(valueRange(spec({ fromZero: true, series: series([2, 4]) }))[0]).toBe(0);
    expect(valueRange(spec({ fromZero: true, series: series([-2, 4]) }))[0]).toBeLessThan(-2);
  });
  it('has a height for one value and for none', () => {
    for (const values of [[], [null], [0], [3, 3]]) {
      const [low, high] = valueRange(spec({ series: series(values) }));
      expect(high).toBeGreaterThan(low);
    }
  });
});
