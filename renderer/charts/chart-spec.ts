/** What a chart of the run page shows, without a word on how it is drawn. */
export type ChartColour = 'reward' | 'score' | 'test' | 'calls' | 'blocked';

export interface ChartSeries {
  label: string;
  colour: ChartColour;
  /** `faint`: the raw line behind its smoothed one. `dots`: measured points, with intervals when low and high are given. */
  kind: 'line' | 'faint' | 'dots' | 'bars';
  /** One a step of `x`; null where there is none. */
  values: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
}

export interface ChartSpec {
  id: string;
  title: string;
  unit: string;
  /** Steps, ascending. */
  x: number[];
  series: ChartSeries[];
  /** A level over the whole width, such as the base model's score. */
  baseline?: { label: string; value: number };
  format(value: number): string;
  /** For the value axis, where short is better; `format` unless given. */
  formatTick?(value: number): string;
  /** The value axis starts at 0; otherwise it fits the values. */
  fromZero: boolean;
  /** The value axis never leaves these. */
  limits?: [number, number];
}

/** Range of the value axis: everything drawn, a margin around, inside the limits. */
export function valueRange(spec: ChartSpec): [number, number] {
  const all: number[] = spec.baseline ? [spec.baseline.value] : [];
  for (const { values, low, high } of spec.series)
    for (const list of [values, low, high]) for (const value of list ?? []) if (value !== null) all.push(value);
  if (all.length === 0) return [0, 1];
  let min = Math.min(...all);
  let max = Math.max(...all);
  const margin = (max - min || Math.abs(max) || 1) * 0.1;
  min = spec.fromZero && min >= 0 ? 0 : min - margin;
  max += margin;
  return spec.limits ? [Math.max(spec.limits[0], min), Math.min(spec.limits[1], max)] : [min, max];
}
