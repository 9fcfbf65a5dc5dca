/**
 * Exponential moving average with the start corrected for its missing history (Kingma & Ba 2015, section 3): the first
 * value is itself, not pulled towards 0. `weight` in [0, 1): 0 leaves the series as it is. Gaps (null) stay gaps.
 */
export function ema(values: readonly (number | null)[], weight: number): (number | null)[] {
  let sum = 0;
  let mass = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = sum * weight + value * (1 - weight);
    mass = mass * weight + (1 - weight);
    return sum / mass;
  });
}
