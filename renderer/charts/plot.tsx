import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { useRunView, type Zoom } from '../stores/run-view.js';
import { useTheme } from '../stores/theme.js';
import type { ChartSpec } from './chart-spec.js';
import { readPalette } from './palette.js';
import { plotOptions } from './plot-options.js';

interface PlotProps {
  spec: ChartSpec;
  /** Right end of the step axis while not zoomed. */
  lastStep: number;
  label: string;
  onCursor(index: number | null): void;
}

const HEIGHT_PX = 190;

/** Steps outside the first and last, as a share of the width, so that marks at the ends are whole. */
const END_MARGIN = 0.02;

const stepRange = (zoom: Zoom | null, lastStep: number): [number, number] =>
  zoom ? [zoom.min, zoom.max] : [-lastStep * END_MARGIN, lastStep * (1 + END_MARGIN)];

const dataOf = ({ x, series }: ChartSpec): uPlot.AlignedData => [x, ...series.map(({ values }) => values)];

/** The drawing itself. React owns the box, uPlot owns what is in it. */
export function Plot({ spec, lastStep, label, onCursor }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useTheme((state) => state.shown);
  const zoom = useRunView((view) => view.zoom);
  const now = useRef({ spec, lastStep, zoom, onCursor });
  now.current = { spec, lastStep, zoom, onCursor };
  const shape = spec.series.map(({ kind, colour }) => `${kind} ${colour}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours and kinds are fixed when a plot is made
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const handlers = {
      spec: () => now.current.spec,
      xRange: () => stepRange(now.current.zoom, now.current.lastStep),
      onZoom: useRunView.getState().zoomTo,
      onReset: useRunView.getState().follow,
      onCursor: (index: number | null) => now.current.onCursor(index),
    };
    const made = new uPlot(
      plotOptions(handlers, readPalette(), element.clientWidth || 480, HEIGHT_PX),
      dataOf(now.current.spec),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [theme, shape]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the ranges are read from `now` while uPlot redraws
  useEffect(() => void plot.current?.setData(dataOf(spec)), [spec, lastStep, zoom]);

  return <div ref={box} className="plot" role="img" aria-label={label} />;
}
