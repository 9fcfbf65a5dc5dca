/** Time left, as a range, from how long the last steps took. */

/** Steps looked at; older ones say little about the pace now. */
const LOOK_BACK = 12;
const MIN_SAMPLES = 3;

/**
 * Quartiles of the recent step durations times the steps left, in ms. null with fewer than three durations, or nothing
 * left to do. `finishedAt`: when each step ended, Unix ms, ascending.
 */
export function etaRange(finishedAt: readonly number[], stepsLeft: number): { lowMs: number; highMs: number } | null {
  const recent = finishedAt.slice(-LOOK_BACK - 1);
  const durations = recent.slice(1).map((at, i) => at - (recent[i] ?? at));
  if (durations.length < MIN_SAMPLES || stepsLeft <= 0) return null;
  durations.sort((a, b) => a - b);
  return { lowMs: quantile(durations, 0.25) * stepsLeft, highMs: quantile(durations, 0.75) * stepsLeft };
}

/** Linear interpolation between order statistics; `sorted` ascending, not empty. */
function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? 0;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}
