/** Grammars of numbers between bounds. */
import { choice, digits, type Grammar, literal, sequence, set } from './grammar.js';
import { fraction } from './json-values.js';

/** More digits than a double tells apart are never written. */
const FURTHEST = 10 ** 15 - 1;

const digitBetween = (from: string, to: string): Grammar => set([from.charCodeAt(0), to.charCodeAt(0)]);

/** Digit strings of one length from `low` to `high`. */
function sameLength(low: string, high: string): Grammar {
  if (/^0*$/.test(low) && /^9*$/.test(high)) return digits(low.length, low.length);
  const [l, h] = [low[0]!, high[0]!];
  const rest = low.length - 1;
  if (rest === 0) return digitBetween(l, h);
  if (l === h) return sequence(literal(l), sameLength(low.slice(1), high.slice(1)));
  const options = [
    sequence(literal(l), sameLength(low.slice(1), '9'.repeat(rest))),
    sequence(literal(h), sameLength('0'.repeat(rest), high.slice(1))),
  ];
  const [from, to] = [String.fromCharCode(l.charCodeAt(0) + 1), String.fromCharCode(h.charCodeAt(0) - 1)];
  if (from <= to) options.push(sequence(digitBetween(from, to), digits(rest, rest)));
  return choice(...options);
}

/** Whole numbers from `low` to `high`, both at least 0. */
function natural(low: number, high: number): Grammar {
  const options: Grammar[] = [];
  for (let n = String(low).length; n <= String(high).length; n++) {
    const least = n === 1 ? 0 : 10 ** (n - 1);
    options.push(sameLength(String(Math.max(low, least)), String(Math.min(high, 10 ** n - 1))));
  }
  return choice(...options);
}

/** Whole numbers from `min` to `max`; null when there are none. */
export function integers(min: number, max: number): Grammar | null {
  const low = Math.max(Math.ceil(min), -FURTHEST);
  const high = Math.min(Math.floor(max), FURTHEST);
  if (low > high) return null;
  const options: Grammar[] = [];
  if (high >= 0) options.push(natural(Math.max(low, 0), high));
  if (low < 0) options.push(sequence(literal('-'), natural(Math.max(1, -high), -low)));
  return choice(...options);
}

/**
 * Numbers from `min` to `max`: the whole ones, and a fraction after those whose whole unit lies within. `open` sides
 * leave the bound itself out. null when that leaves none (a range within one unit).
 */
export function numbers(min: number, max: number, open: { min: boolean; max: boolean }): Grammar | null {
  const options: Grammar[] = [];
  const low = open.min ? Math.floor(min) + 1 : Math.ceil(min);
  const high = open.max ? Math.ceil(max) - 1 : Math.floor(max);
  const exact = integers(low, high);
  if (exact) options.push(exact);
  // k.f lies in [k, k + 1), and -k.f in (-k - 1, -k].
  const above = { from: Math.max(0, low), to: Math.min(Math.floor(max) - 1, FURTHEST) };
  if (above.from <= above.to) options.push(sequence(natural(above.from, above.to), fraction));
  const below = { from: Math.max(0, -high), to: Math.min(-Math.ceil(min) - 1, FURTHEST) };
  if (below.from <= below.to) options.push(sequence(literal('-'), natural(below.from, below.to), fraction));
  return options.length === 0 ? null : choice(...options);
}
