import { useMemo } from 'react';
import type { Evaluation, Step } from '../../contract/records.js';
import { ChartPanel } from '../charts/chart-panel.js';
import type { ChartSpec } from '../charts/chart-spec.js';
import { ema } from '../logic/ema.js';
import { formatFixed, formatShare } from '../logic/format.js';
import { blockedSeries, callsSeries, rewardSeries, scoreSeries } from '../logic/run-series.js';
import { useRunView } from '../stores/run-view.js';
import { S } from '../strings.js';

const MIN_STEPS_SHOWN = 8;

/** The four charts that tell whether a run learns, and whether it cheats. */
export function RunCharts({ steps, evaluations }: { steps: Step[]; evaluations: Evaluation[] }) {
  const smoothing = useRunView((view) => view.smoothing);
  const reward = useMemo(() => rewardChart(steps, smoothing), [steps, smoothing]);
  const score = useMemo(() => scoreChart(evaluations), [evaluations]);
  const calls = useMemo(() => callsChart(steps, smoothing), [steps, smoothing]);
  const blocked = useMemo(() => blockedChart(steps), [steps]);
  const last = Math.max(MIN_STEPS_SHOWN, steps.at(-1)?.step ?? 0, evaluations.at(-1)?.step ?? 0);
  return (
    <div className="charts">
      {[reward, score, calls, blocked].map((spec) => (
        <ChartPanel key={spec.id} spec={spec} lastStep={last} />
      ))}
    </div>
  );
}

const two = (value: number): string => formatFixed(value, 2);

function rewardChart(steps: Step[], smoothing: number): ChartSpec {
  const { x, y } = rewardSeries(steps);
  return {
    id: 'reward',
    title: S.run.charts.reward,
    unit: S.run.charts.rewardUnit,
    x,
    format: two,
    fromZero: true,
    series: [
      { label: S.run.series.raw, colour: 'reward', kind: 'faint', values: y },
      { label: S.run.series.ema, colour: 'reward', kind: 'line', values: ema(y, smoothing) },
    ],
  };
}

function scoreChart(evaluations: Evaluation[]): ChartSpec {
  const { points, base, split } = scoreSeries(evaluations);
  const x = [...new Set(points.map((point) => point.step))];
  const at = (wanted: (point: (typeof points)[number]) => boolean, value: 'pass1' | 'low' | 'high') =>
    x.map((step) => points.find((point) => point.step === step && wanted(point))?.[value] ?? null);
  const main = (point: (typeof points)[number]): boolean => point.split === split;
  const other = (point: (typeof points)[number]): boolean => point.split !== split;
  const series: ChartSpec['series'] = [
    {
      label: S.run.series.score,
      colour: 'score',
      kind: 'dots',
      values: at(main, 'pass1'),
      low: at(main, 'low'),
      high: at(main, 'high'),
    },
  ];
  if (points.some(other))
    series.push({
      label: S.run.series.test,
      colour: 'test',
      kind: 'dots',
      values: at(other, 'pass1'),
      low: at(other, 'low'),
      high: at(other, 'high'),
    });
  return {
    id: 'score',
    title: S.run.charts.score,
    unit: S.run.charts.scoreUnit(split),
    x,
    format: (value) => formatShare(value),
    formatTick: (value) => `${Math.round(value * 100)} %`,
    fromZero: false,
    limits: [0, 1],
    baseline: base === null ? undefined : { label: S.run.series.base, value: base },
    series,
  };
}

function callsChart(steps: Step[], smoothing: number): ChartSpec {
  const { x, y } = callsSeries(steps);
  return {
    id: 'calls',
    title: S.run.charts.calls,
    unit: S.run.charts.callsUnit,
    x,
    format: two,
    fromZero: false,
    limits: [0, Number.POSITIVE_INFINITY],
    series: [
      { label: S.run.series.raw, colour: 'calls', kind: 'faint', values: y },
      { label: S.run.series.ema, colour: 'calls', kind: 'line', values: ema(y, smoothing) },
    ],
  };
}

function blockedChart(steps: Step[]): ChartSpec {
  const { x, y } = blockedSeries(steps);
  return {
    id: 'blocked',
    title: S.run.charts.blocked,
    unit: S.run.charts.blockedUnit,
    x,
    format: (value) => formatFixed(value, 0),
    // Calls are whole: a scale of 0 to 1 has no marks in between.
    formatTick: (value) => (Number.isInteger(value) ? formatFixed(value, 0) : ''),
    fromZero: true,
    series: [{ label: S.run.series.blocked, colour: 'blocked', kind: 'bars', values: y }],
  };
}
