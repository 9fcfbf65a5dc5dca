import { S } from '../strings.js';
import type { ChartSpec } from './chart-spec.js';

/** The chart's numbers, newest first, for reading, copying and screen readers. */
export function ChartTable({ spec }: { spec: ChartSpec }) {
  const interval = spec.series.some(({ low }) => low);
  const rows = spec.x.map((step, i) => ({ step, i })).reverse();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className="plot plot-table" tabIndex={0} aria-label={S.run.tableLabel(spec.title)}>
      <table className="table">
        <thead>
          <tr>
            <th className="num">{S.run.columns.step}</th>
            {spec.series.map(({ label }) => (
              <th key={label} className="num">
                {label}
              </th>
            ))}
            {interval && <th className="num">{S.run.columns.interval}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ step, i }) => (
            <tr key={step}>
              <td className="num">{step}</td>
              {spec.series.map(({ label, values }) => (
                <td key={label} className="num">
                  {values[i] == null ? S.none : spec.format(values[i])}
                </td>
              ))}
              {interval && <td className="num muted">{intervalText(spec, i)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function intervalText(spec: ChartSpec, i: number): string {
  const [series] = spec.series;
  const low = series?.low?.[i];
  const high = series?.high?.[i];
  return low == null || high == null ? S.none : `${spec.format(low)} – ${spec.format(high)}`;
}
