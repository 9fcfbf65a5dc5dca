/** A plain aligned table; numbers to the right. */
export function table(header: string[], rows: (string | number | null)[][]): string {
  const cells = [header, ...rows.map((row) => row.map((cell) => (cell === null ? '-' : String(cell))))];
  const widths = header.map((_, c) => Math.max(...cells.map((row) => [...(row[c] ?? '')].length)));
  const numeric = header.map(
    (_, c) => rows.length > 0 && rows.every((row) => typeof row[c] === 'number' || row[c] === null),
  );
  const line = (row: string[]): string =>
    row
      .map((cell, c) => (numeric[c] ? cell.padStart(widths[c]!) : cell.padEnd(widths[c]!)))
      .join('  ')
      .trimEnd();
  return `${cells.map(line).join('\n')}\n`;
}

/** 512 B, 4.1 MiB, 12 GiB */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes > 0 ? Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10)) : 0;
  const value = bytes / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

/** 2026-11-30 14:05, UTC */
export const minuteText = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
