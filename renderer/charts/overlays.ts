/** What uPlot does not draw by itself: 95 % intervals behind dots, and a dashed level over the whole width. */
import type uPlot from 'uplot';
import type { ChartSpec } from './chart-spec.js';
import type { Palette } from './palette.js';

const CAP_PX = 4;

/** `spec` is asked for at each drawing, since data changes under a living plot. */
export function overlays(spec: () => ChartSpec, palette: Palette): uPlot.Plugin {
  return {
    hooks: {
      drawAxes: (u) => drawBaseline(u, spec(), palette),
      drawSeries: (u, index) => drawIntervals(u, spec(), palette, index),
    },
  };
}

function drawBaseline(u: uPlot, spec: ChartSpec, palette: Palette): void {
  if (!spec.baseline) return;
  const { ctx, bbox } = u;
  const y = Math.round(u.valToPos(spec.baseline.value, 'y', true));
  ctx.save();
  ctx.strokeStyle = palette.base;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

function drawIntervals(u: uPlot, spec: ChartSpec, palette: Palette, index: number): void {
  const series = spec.series[index - 1];
  if (!series?.low || !series.high) return;
  const { ctx, bbox } = u;
  const cap = CAP_PX * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = palette.series[series.colour];
  ctx.globalAlpha = 0.65;
  ctx.lineWidth = 1.25 * devicePixelRatio;
  ctx.beginPath();
  for (const [i, step] of spec.x.entries()) {
    const low = series.low[i];
    const high = series.high[i];
    if (low == null || high == null) continue;
    const x = u.valToPos(step, 'x', true);
    const top = u.valToPos(high, 'y', true);
    const bottom = u.valToPos(low, 'y', true);
    ctx.moveTo(x, top);
    ctx.lineTo(x, bottom);
    ctx.moveTo(x - cap, top);
    ctx.lineTo(x + cap, top);
    ctx.moveTo(x - cap, bottom);
    ctx.lineTo(x + cap, bottom);
  }
  ctx.stroke();
  ctx.restore();
}
