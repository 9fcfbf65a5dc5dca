/**
 * Python's `round(x, 2)`: the nearest decimal of the exact binary value, ties to even.
 * `toFixed` is exact too but rounds ties up; a binary number ties only where x * 200 is an odd integer.
 */
export function round2(x: number): number {
  const doubled = x * 200;
  if (Number.isInteger(doubled) && doubled % 2 !== 0) return roundHalfEven(x * 100) / 100;
  return Number(x.toFixed(2));
}

/** Python's `round(x)`: ties to even. */
export function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  if (x - floor !== 0.5) return Math.round(x);
  return floor % 2 === 0 ? floor : floor + 1;
}
