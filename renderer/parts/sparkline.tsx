const WIDTH = 600;
const HEIGHT = 72;
const PAD = 3;

/** A line without axes: enough to see where a series is going. `label` says what it shows. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const min = Math.min(...values);
  const span = Math.max(...values) - min || 1;
  const x = (i: number): number => (i / Math.max(values.length - 1, 1)) * WIDTH;
  const y = (value: number): number => HEIGHT - PAD - ((value - min) / span) * (HEIGHT - 2 * PAD);
  const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} />
      <polyline points={points} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
