import { useState } from 'react';
import { S } from '../strings.js';
import type { ChartSeries, ChartSpec } from './chart-spec.js';
import { ChartTable } from './chart-table.js';
import { Plot } from './plot.js';

/** A chart with its legend, whose values are those under the cursor or the newest, and the same data as a table. */
export function ChartPanel({ spec, lastStep }: { spec: ChartSpec; lastStep: number }) {
  const [asTable, setAsTable] = useState(false);
  const [cursor, setCursor] = useState<number | null>(null);
  const newest = spec.series.at(-1)?.values.findLast((value) => value !== null) ?? null;
  const summary = S.run.summary(spec.title, spec.x.length, newest === null ? S.none : spec.format(newest));
  return (
    <section className="chart" aria-label={spec.title} data-testid={`chart-${spec.id}`}>
      <div className="chart-head">
        <div>
          <h2>{spec.title}</h2>
          <p className="faint">{spec.unit}</p>
        </div>
        <button
          type="button"
          className="button button-quiet"
          aria-pressed={asTable}
          aria-label={asTable ? S.run.chartLabel(spec.title) : S.run.tableLabel(spec.title)}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? S.run.asChart : S.run.asTable}
        </button>
      </div>
      <div className="legend">
        {spec.series.map((series) => (
          <LegendItem key={series.label} spec={spec} series={series} cursor={cursor} />
        ))}
        {spec.baseline && (
          <span className="legend-item">
            <i className="swatch swatch-base" />
            {spec.baseline.label} <b className="num">{spec.format(spec.baseline.value)}</b>
          </span>
        )}
      </div>
      {asTable ? (
        <ChartTable spec={spec} />
      ) : (
        <Plot spec={spec} lastStep={lastStep} label={summary} onCursor={setCursor} />
      )}
      {!asTable && spec.x.length === 0 && <p className="chart-none muted">{S.run.noPoints}</p>}
    </section>
  );
}

function LegendItem({ spec, series, cursor }: { spec: ChartSpec; series: ChartSeries; cursor: number | null }) {
  const value = cursor === null ? series.values.findLast((one) => one !== null) : series.values[cursor];
  return (
    <span className="legend-item">
      <i className={`swatch swatch-${series.colour} swatch-${series.kind}`} />
      {series.label} <b className="num">{value == null ? S.none : spec.format(value)}</b>
    </span>
  );
}
