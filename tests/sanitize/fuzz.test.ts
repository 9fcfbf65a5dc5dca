/**
 * Random and damaged records through the whole sanitizer: it ends in time, what was JSON stays JSON of the same shape, no line comes or goes,
 * and what comes out is not changed by a second run.
 */
import { describe, expect, test } from 'vitest';
import { sanitizeBytes } from '../../main/sanitize/sanitize.js';
import { damageBytes, damageText, damageValue, type Random } from '../engine/tokenizer/fuzz-random.js';
import { fuzz, fuzzCount } from '../support/fuzz.js';
import { allCases } from './own/score.js';
import { WRAPS, wrapAll } from './own/wrap.js';

const CASES = allCases();
const INSERTS = [
  '"',
  '\\',
  '\\n',
  '\\u0041',
  '\0',
  '\u001b[31m',
  '%41',
  '&quot;',
  '-----BEGIN PRIVATE KEY-----',
  '=',
  ': ',
  '@',
  '{"',
  '"}',
  ' --password ',
];
const COUNT = fuzzCount(1500);
const LIMIT_MS = 1000;

function record(random: Random): Buffer {
  const own = random.pick(CASES);
  let line = wrapAll(own, random, [random.pick(WRAPS)])[0]!.line;
  if (random.chance(0.3)) line = `${line}\n${wrapAll(random.pick(CASES), random, [random.pick(WRAPS)])[0]!.line}`;
  if (random.chance(0.3)) {
    const value = [JSON.parse(line.split('\n')[0]!)] as unknown[];
    damageValue(value as never, random);
    line = JSON.stringify(value[0]) ?? 'null';
  }
  if (random.chance(0.5)) line = damageText(line, random, INSERTS);
  const bytes = Buffer.from(line);
  return random.chance(0.2) ? damageBytes(bytes, random) : bytes;
}

/** The value with every text emptied; undefined: no JSON. */
function shape(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown) => (typeof value === 'string' ? '' : value));
  } catch {
    return undefined;
  }
}
const keys = (value: unknown): string => JSON.stringify(value)?.replace(/"(?:[^"\\]|\\.)*"/g, '""') ?? '';

describe('damaged records', () => {
  test('through the whole sanitizer', { timeout: 60_000 + COUNT * 60 }, async () => {
    await fuzz('records', COUNT, LIMIT_MS, (random) => {
      const input = record(random);
      const { bytes, findings } = sanitizeBytes(input);
      const before = input.toString('latin1').split('\n');
      const after = bytes.toString('latin1').split('\n');
      if (before.length !== after.length) throw new Error('the number of lines changed');
      for (const [i, line] of before.entries()) {
        const had = shape(line);
        if (had === undefined || after[i]!.includes('tackroom_withheld')) continue;
        const has = shape(after[i]!);
        if (has === undefined) throw new Error(`no JSON any more: ${after[i]!.slice(0, 300)}`);
        if (keys(has).length !== keys(had).length && !/\[null\]|__proto__/.test(line))
          throw new Error('its shape changed');
      }
      if (!sanitizeBytes(bytes).bytes.equals(bytes))
        throw new Error(`a second run changes it: ${bytes.toString('latin1').slice(0, 400)}`);
      return findings.length > 0;
    });
    expect(CASES.length).toBeGreaterThan(900);
  });
});
