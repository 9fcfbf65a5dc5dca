/**
 * Python's `round(x, 2)`: the nearest decimal of the exact binary value, ties to even.
 * `toFixed` is exact too but rounds ties up; a binary number ties only where it is an odd number of eighths.
 */
export function round2(x: number): number {
  const eighths = x * 8;
  if (Number.isInteger(eighths) && eighths % 2 !== 0) return roundHalfEven(x * 100) / 100;
  return Number(x.toFixed(2));
}

/** Whether another order of adding up could round to another second decimal. */
export function isNearTie(x: number): boolean {
  const cents = Math.abs(x) * 100;
  return Math.abs(cents - Math.floor(cents) - 0.5) < 1e-6;
}

/** Python's `round(x)`: ties to even. */
export function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  if (x - floor !== 0.5) return Math.round(x);
  return floor % 2 === 0 ? floor : floor + 1;
}
