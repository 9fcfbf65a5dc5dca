/** Strings that come back are not read again: what comes out must be what reading them again would give, and what TypeScript gives. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Registry, STANDARD } from '../../main/sanitize/detect/registry.js';
import { SanitizeEngine } from '../../main/sanitize/engine.js';
import { Pseudonyms } from '../../main/sanitize/pseudonyms.js';
import { Ranges } from '../../main/sanitize/ranges.js';
import { compileRules } from '../../main/sanitize/rules.js';
import { NeedleIndex } from '../../main/sanitize/second/needle-index.js';
import { PRIORITY, resolveSpans, type Span } from '../../main/sanitize/span.js';
import { loadScanAddon } from '../../native/scan-addon.js';
import { damageText, type Random } from '../engine/tokenizer/fuzz-random.js';
import { fuzz, fuzzCount } from '../support/fuzz.js';
import { allCases } from './own/score.js';
import { WRAPS, wrapAll } from './own/wrap.js';
import { inventedTokens } from './support.js';

const addon = loadScanAddon();
if (!addon) throw new Error('build/native/scan.node is not built. Run: npm run setup');
const CASES = allCases();
afterEach(() => vi.unstubAllEnvs());

interface Run {
  /** As the stream takes them. */
  pieces: readonly Buffer[];
  rememberAfter: number;
  registry?: Registry;
}

function run({ pieces, rememberAfter, registry = STANDARD }: Run): string {
  const pseudonyms = new Pseudonyms();
  const engine = new SanitizeEngine(pseudonyms, registry, rememberAfter);
  const again = new SanitizeEngine(pseudonyms, registry, rememberAfter);
  const found = pieces.map((piece) => engine.detect(piece));
  engine.learn();
  const clean = pieces.map((piece, i) => engine.splice(piece, engine.complete(piece, found[i]!)));
  const left = clean.map((piece) => again.detect(piece).length);
  engine.close();
  again.close();
  return JSON.stringify({
    // Otherwise the second pass would make up for what the first takes for something else.
    found: found.map((ranges) => [...ranges.numbers()]),
    clean: clean.map((piece) => piece.toString('latin1')),
    left,
    entities: pseudonyms.entities(),
  });
}

function everyWay(pieces: readonly Buffer[], registry: Registry = STANDARD): void {
  const known = run({ pieces, rememberAfter: -1, registry });
  expect(run({ pieces, rememberAfter: Number.POSITIVE_INFINITY, registry })).toBe(known);
  vi.stubEnv('TACKROOM_SCANNER', 'typescript');
  // A registry has one scanner of those that remember nothing.
  expect(run({ pieces, rememberAfter: Number.POSITIVE_INFINITY, registry: { ...registry } })).toBe(known);
  vi.unstubAllEnvs();
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const TOKEN = inventedTokens('seen')['github-pat']!;

describe('strings that come back', () => {
  test('under the same key, under another, in keys, and in JSON within', () => {
    const value = `export PW=hunter2-${'x1'.repeat(6)} # in /home/mkessler/app`;
    const lines = [
      line({ text: value, cwd: '/home/mkessler/app' }),
      line({ password: 'Sesame-4711-open-Rain', other: 'Sesame-4711-open-Rain', text: TOKEN }),
      line({ [value]: TOKEN, arguments: JSON.stringify({ text: value, token: TOKEN }) }),
      line([
        { name: 'Authorization', value: 'abcdefgh12345678' },
        { name: 'Title', value: 'abcdefgh12345678' },
      ]),
      line({ name: 'Ana Maria Silva', email: 'ana@example.org' }),
      line({ name: 'Ana Maria Silva', size: 3 }),
      line({ blob: Buffer.from(`token ${TOKEN} of mkessler`).toString('base64') }),
    ];
    const pieces = [lines.join(''), lines.slice().reverse().join(''), lines[1]! + lines[0]!].map((text) =>
      Buffer.from(text),
    );
    everyWay(pieces);
    expect(run({ pieces, rememberAfter: -1 })).not.toContain(JSON.stringify(pieces[0]!.toString('latin1')));
  });

  test('what depends on the text around a string is judged every time', () => {
    const person = { name: 'Ana Maria Silva', email: 'ana@example.org' };
    const pieces = [line(person), line({ name: 'Ana Maria Silva', size: 3 }), line(person)].map((text) =>
      Buffer.from(text),
    );
    everyWay(pieces);
  });

  test('rules of the user, and values that are kept', () => {
    const rules = compileRules('{version: 1, entities: [{name: p, values: [Falkenstein]}], keep: [mkessler]}', 'rules');
    const text = line({ text: 'Falkenstein of mkessler', cwd: '/home/mkessler/x', more: TOKEN });
    everyWay([Buffer.from(text), Buffer.from(text + text)], rules);
  });

  test('random sessions', { timeout: 60_000 + fuzzCount(150) * 200 }, async () => {
    await fuzz('seen strings', fuzzCount(150), 5000, (random: Random) => {
      const lines = Array.from({ length: 12 }, () => {
        const own = wrapAll(random.pick(CASES), random, [random.pick(WRAPS)])[0]!.line;
        return random.chance(0.2) ? damageText(own, random, ['"', '\\', '%41', '\\u0041']) : own;
      });
      const pieces = Array.from({ length: 3 }, () =>
        Buffer.from(Array.from({ length: 10 }, () => `${random.pick(lines)}\n`).join('')),
      );
      everyWay(pieces);
      return true;
    });
  });
});

describe('ranges', () => {
  test('that overlap become what spans become', async () => {
    const certainties = Object.keys(PRIORITY) as (keyof typeof PRIORITY)[];
    await fuzz('ranges', fuzzCount(2000), 1000, (random) => {
      const spans: Span[] = Array.from({ length: random.below(12) + 1 }, (_, value) => {
        const start = random.below(30);
        const certainty = random.pick(certainties);
        return { start, end: start + 1 + random.below(9), family: 'f', certainty, value: String(value) };
      });
      const sorted = new Ranges();
      for (const { start, end, certainty, value } of spans) sorted.push(start, end, Number(value), PRIORITY[certainty]);
      sorted.sort();
      const merged = new Ranges();
      for (let i = 0; i < sorted.length; i++)
        merged.merge(sorted.start(i), sorted.end(i), sorted.entity(i), sorted.rank(i));
      const expected = resolveSpans(spans).map(({ start, end, certainty, value }) => [
        start,
        end,
        Number(value),
        PRIORITY[certainty],
      ]);
      expect([...merged.numbers()]).toEqual(expected.flat());
      return true;
    });
  });
});

describe('the addon refuses what would reach outside', () => {
  const bytes = (length: number): Uint8Array => new Uint8Array(length);
  const ints = (...numbers: number[]): Int32Array => Int32Array.from(numbers);
  test('splice', () => {
    const out = bytes(12);
    addon.splice(Buffer.from('ab secret cd'), 0, 12, ints(3, 9, 0, 1), Buffer.from('hidden'), ints(0, 6), out);
    expect(Buffer.from(out).toString()).toBe('ab hidden cd');
    for (const [from, to, ranges, starts, room] of [
      [0, 13, ints(3, 9, 0, 1), ints(0, 6), 12],
      [0, 12, ints(3, 13, 0, 1), ints(0, 6), 12],
      [0, 12, ints(-1, 9, 0, 1), ints(0, 6), 12],
      [0, 12, ints(9, 3, 0, 1), ints(0, 6), 12],
      [0, 12, ints(3, 9, 1, 1), ints(0, 6), 12],
      [0, 12, ints(3, 9, -1, 1), ints(0, 6), 12],
      [0, 12, ints(3, 9, 0, 1), ints(0, 7), 12],
      [0, 12, ints(3, 9, 0, 1), ints(3, 1), 12],
      [0, 12, ints(3, 9, 0, 1), ints(0, 6), 11],
      [0, 12, ints(3, 9, 0, 1), ints(0, 6), 13],
      [0, 12, ints(3, 9, 0, 1, 5, 6, 0, 1), ints(0, 6), 12],
      [4, 12, ints(3, 9, 0, 1), ints(0, 6), 12],
    ] as const)
      expect(() =>
        addon.splice(Buffer.from('ab secret cd'), from, to, ranges, Buffer.from('hidden'), starts, bytes(room)),
      ).toThrow(RangeError);
  });

  test('needles', () => {
    const needles = new addon.Needles();
    needles.add(Buffer.from('abcdmkesslermkessler'), ints(4, 12, 20));
    expect([...needles.find(Buffer.from('xabcd mkessler'))]).toEqual([1, 5, 0, 6, 14, 2, 6, 14, 1]);
    expect([...needles.find(Buffer.from('abc'))]).toEqual([]);
    expect(() => needles.add(Buffer.from('abc'), ints(3))).toThrow(RangeError);
    expect(() => needles.add(Buffer.from('abcd'), ints(5))).toThrow(RangeError);
    expect(() => needles.add(Buffer.from('abcdefgh'), ints(5, 4))).toThrow(RangeError);
  });

  test('finds the needles that TypeScript finds, and that are there', async () => {
    await fuzz('needles', fuzzCount(1000), 1000, (random) => {
      const text = (most: number): string =>
        Array.from({ length: 4 + random.below(most) }, () => random.pick(['a', 'b', 'c'])).join('');
      const texts = [...new Set(Array.from({ length: 1 + random.below(200) }, () => text(20)))];
      const bytes = Buffer.from(text(400));
      const told = (index: NeedleIndex): string[] => {
        for (const [owner, one] of texts.entries()) index.add(one, { bounded: false, owner });
        const places: string[] = [];
        index.find(bytes, (start, end, { owner }) => places.push(`${start} ${end} ${texts[owner]}`));
        return places.sort();
      };
      const expected = texts.flatMap((one) => {
        const places: string[] = [];
        for (let at = bytes.indexOf(one); at >= 0; at = bytes.indexOf(one, at + 1))
          places.push(`${at} ${at + one.length} ${one}`);
        return places;
      });
      expect(told(new NeedleIndex(addon))).toEqual(expected.sort());
      expect(told(new NeedleIndex(null))).toEqual(expected);
      return expected.length > 0;
    });
  });
});
