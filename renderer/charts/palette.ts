/** Colours of the charts, read from the style sheet so that themes need no second list. */
import type { ChartColour } from './chart-spec.js';

export interface Palette {
  series: Record<ChartColour, string>;
  axis: string;
  grid: string;
  base: string;
  surface: string;
  font: string;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    series: {
      reward: colour('--chart-reward'),
      score: colour('--chart-score'),
      test: colour('--chart-test'),
      calls: colour('--chart-calls'),
      blocked: colour('--chart-blocked'),
    },
    axis: colour('--muted'),
    grid: colour('--line'),
    base: colour('--faint'),
    surface: colour('--surface'),
    font: `11px ${colour('--font')}`,
  };
}
