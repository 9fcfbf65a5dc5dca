/** uPlot options of a chart of the run page. */
import uPlot from 'uplot';
import type { Zoom } from '../stores/run-view.js';
import { type ChartSeries, type ChartSpec, valueRange } from './chart-spec.js';
import { overlays } from './overlays.js';
import type { Palette } from './palette.js';

/** Charts with this key share the cursor. */
const SYNC_KEY = 'run';
const MIN_DRAG_PX = 6;
const STEP_INCREMENTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const VALUE_AXIS_PX = 52;

export interface PlotHandlers {
  /** The chart as it is now. */
  spec(): ChartSpec;
  xRange(): [number, number];
  onZoom(zoom: Zoom): void;
  onReset(): void;
  /** Index into `x` under the cursor. */
  onCursor(index: number | null): void;
}

export function plotOptions(handlers: PlotHandlers, palette: Palette, width: number, height: number): uPlot.Options {
  const axis = {
    stroke: palette.axis,
    font: palette.font,
    grid: { stroke: palette.grid, width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    padding: [8, 12, 0, 0],
    legend: { show: false },
    scales: { x: { time: false, range: () => handlers.xRange() }, y: { range: () => valueRange(handlers.spec()) } },
    axes: [
      { ...axis, incrs: STEP_INCREMENTS, size: 26, gap: 4, grid: { show: false } },
      {
        ...axis,
        size: VALUE_AXIS_PX,
        gap: 6,
        values: (_, ticks) => ticks.map((tick) => formatTick(handlers.spec(), tick)),
      },
    ],
    cursor: {
      sync: { key: SYNC_KEY, scales: ['x', null] },
      drag: { x: true, y: false, setScale: false, dist: MIN_DRAG_PX },
      points: { size: 8, fill: (_, i) => strokeOf(handlers.spec(), i, palette) },
      y: false,
      bind: { dblclick: () => resetOnDoubleClick(handlers) },
    },
    hooks: {
      setCursor: [(u) => handlers.onCursor(u.cursor.idx ?? null)],
      setSelect: [(u) => zoomToSelection(u, handlers)],
    },
    plugins: [overlays(handlers.spec, palette)],
    series: [{}, ...handlers.spec().series.map((series) => seriesOptions(series, palette))],
  };
}

/** uPlot would fit its scales by itself; here the shared zoom decides. */
function resetOnDoubleClick(handlers: PlotHandlers): () => null {
  return () => {
    handlers.onReset();
    return null;
  };
}

function zoomToSelection(u: uPlot, handlers: PlotHandlers): void {
  const { left, width } = u.select;
  if (width < MIN_DRAG_PX) return;
  handlers.onZoom({ min: u.posToVal(left, 'x'), max: u.posToVal(left + width, 'x') });
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

function seriesOptions({ label, colour, kind }: ChartSeries, palette: Palette): uPlot.Series {
  const stroke = palette.series[colour];
  const common = { label, stroke, spanGaps: true };
  switch (kind) {
    case 'faint':
      return { ...common, alpha: 0.35, width: 1, points: { show: false } };
    case 'line':
      return { ...common, width: 2, points: { show: false } };
    case 'dots':
      return { ...common, width: 1.25, points: { show: true, size: 7, width: 1.5, fill: palette.surface, stroke } };
    case 'bars':
      return {
        ...common,
        width: 0,
        fill: stroke,
        points: { show: false },
        paths: uPlot.paths.bars?.({ size: [0.7, 14] }),
      };
  }
}

/** `index` counts from 1: uPlot's series 0 is the step axis. */
function strokeOf(spec: ChartSpec, index: number, palette: Palette): string {
  const series = spec.series[index - 1];
  return series ? palette.series[series.colour] : palette.axis;
}

const formatTick = (spec: ChartSpec, tick: number): string => (spec.formatTick ?? spec.format)(tick);
