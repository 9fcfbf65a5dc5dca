/** Intervals for pass rates. */

const Z = 1.959964;

/** 95 % Wilson score interval of `successes` out of `n`; [0, 1] for n = 0 (Wilson 1927). */
export function wilson(successes: number, n: number): [number, number] {
  if (n === 0) return [0, 1];
  const p = successes / n;
  const z2 = Z * Z;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

export function mean(values: readonly number[]): number {
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
}

/** Standard error of the mean of per-task differences (after - before); 0 for fewer than two tasks. */
function standardError(before: readonly number[], after: readonly number[]): number {
  if (before.length !== after.length) throw new Error('paired values of different length');
  if (before.length < 2) return 0;
  const d = after.map((a, i) => a - before[i]!);
  const m = mean(d);
  return Math.sqrt(d.reduce((sum, x) => sum + (x - m) ** 2, 0) / (d.length - 1) / d.length);
}

/** Mean of per-task differences (after - before) with the 95 % normal interval of that mean. Same tasks, same order. */
export function pairedDifference(
  before: readonly number[],
  after: readonly number[],
): { diff: number; ci95: [number, number] } {
  const half = Z * standardError(before, after);
  const m = mean(after.map((a, i) => a - before[i]!));
  if (before.length < 2) return { diff: m, ci95: [-1, 1] };
  return { diff: m, ci95: [Math.max(-1, m - half), Math.min(1, m + half)] };
}
