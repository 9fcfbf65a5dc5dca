/** Rows of the benchmark and their table. */

/**
 * A row: { name, unit, ours, oursBy, peer, peerBy, ratio, bar, limit, note }.
 * `ratio` is what the bar judges (shown in per cent where `percent` is set); `bar` is { atLeast } or { atMost }; `limit` is { value, what } in the row's unit.
 */
export function met(row) {
  if (row.ratio === null || row.ratio === undefined || !row.bar) return null;
  return row.bar.atLeast === undefined ? row.ratio <= row.bar.atMost : row.ratio >= row.bar.atLeast;
}

const number = (value) => {
  if (value === null || value === undefined) return '-';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
};
const asRatio = (row, value) => (row.percent ? `${(value * 100).toFixed(1)} %` : `${value.toFixed(2)}x`);

function barText(row) {
  if (!row.bar) return '-';
  const [word, value] = row.bar.atLeast === undefined ? ['<=', row.bar.atMost] : ['>=', row.bar.atLeast];
  return `${word} ${asRatio(row, value)}`;
}

function limitText(row) {
  if (!row.limit?.value || !row.ours) return '-';
  return `${((100 * row.ours) / row.limit.value).toFixed(0)} % of ${number(row.limit.value)} (${row.limit.what})`;
}

/** Markdown, one line a row. */
export function table(rows) {
  const head = ['', 'ours', 'peer', 'result', 'bar', 'met', 'share of the limit', 'settings'];
  const lines = rows.map((row) => {
    const verdict = met(row);
    return [
      `${row.name}, ${row.unit}`,
      number(row.ours),
      number(row.peer),
      row.ratio === null || row.ratio === undefined ? '-' : asRatio(row, row.ratio),
      barText(row),
      verdict === null ? '-' : verdict ? 'yes' : 'NO',
      limitText(row),
      [row.oursBy && `ours: ${row.oursBy}`, row.peerBy && `peer: ${row.peerBy}`, row.note].filter(Boolean).join('; ') ||
        '-',
    ];
  });
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
