import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { STANDARD } from '../../../main/sanitize/detect/registry.js';
import { type KnownValue, KnownValues, knownTables } from '../../../main/sanitize/scan/known-values.js';
import {
  BREAKPOINT,
  type ByteScanner,
  CANDIDATE,
  FIELDS,
  Leaf,
  Limits,
  type ScanResult,
} from '../../../main/sanitize/scan/layout.js';
import { TypeScriptScanner } from '../../../main/sanitize/scan/scanner.js';
import { loadScanAddon } from '../../../native/scan-addon.js';
import { damageBytes, damageText, type Random } from '../../engine/tokenizer/fuzz-random.js';
import { fuzz, fuzzCount } from '../../support/fuzz.js';
import { describeShared } from '../../support/shared.js';

const addon = loadScanAddon();
if (!addon) throw new Error('build/native/scan.node is not built. Run: npm run setup');

const VALUES: KnownValue[] = [
  ['mkessler', true],
  ['kessler', false],
  ['hunter2hunter2', false],
  ['aaaa', false],
  ['aaaaaa', true],
  ['ghp_pqmBRGHfwbbGyEJ8OvIiM', false],
  ['ghp_pqmBRGHf', true],
  ['M\u00fcller', true],
].map(([text, bounded]) => ({ bytes: Buffer.from(text as string), bounded: bounded as boolean }));
const known = knownTables(VALUES);

interface Body {
  first: ByteScanner;
  second: ByteScanner;
}
const native: Body = {
  first: new addon.ByteScanner(STANDARD.tables, null),
  second: new addon.ByteScanner(STANDARD.tables, known),
};
const typescript: Body = {
  first: new TypeScriptScanner(STANDARD.tables),
  second: new TypeScriptScanner(STANDARD.tables, new KnownValues(known)),
};

/** All that the arrays say, result by result; texts of the arena as what they hold. */
function told(scanner: ByteScanner, input: Uint8Array, from: number, to: number): Buffer[] {
  const results: Buffer[] = [];
  scanner.scan(input, from, to, ({ leaves, leafCount, candidates, maps, arena }: ScanResult) => {
    const field = (leaf: number, name: number): number => leaves[leaf * FIELDS + name]!;
    const parts: Uint8Array[] = [Uint8Array.of(leafCount)];
    let last = 0;
    for (let leaf = 0; leaf < leafCount; leaf++) {
      const text = field(leaf, Leaf.start);
      const key = field(leaf, Leaf.keyStart);
      const map = field(leaf, Leaf.mapStart);
      if (field(leaf, Leaf.source) === 1) parts.push(arena.subarray(text, text + field(leaf, Leaf.length)));
      parts.push(arena.subarray(key, key + field(leaf, Leaf.keyLength)));
      parts.push(bytesOf(maps, map, map + field(leaf, Leaf.mapCount) * BREAKPOINT));
      last = Math.max(last, (field(leaf, Leaf.firstCandidate) + field(leaf, Leaf.candidates)) * CANDIDATE);
    }
    parts.push(bytesOf(leaves, 0, leafCount * FIELDS), bytesOf(candidates, 0, last));
    results.push(Buffer.concat(parts));
  });
  return results;
}
const bytesOf = (numbers: Int32Array, from: number, to: number): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset + from * 4, (to - from) * 4);

/** Whether the passes found anything. Errors: the bodies differ. */
function same(input: Uint8Array, from = 0, to = input.length): boolean {
  // A copy of just its size: what is read past the end is not there.
  const exact = new Uint8Array(input);
  let found = false;
  for (const pass of ['first', 'second'] as const) {
    const expected = told(typescript[pass], input, from, to);
    const actual = told(native[pass], exact, from, to);
    // Buffers are compared in full only where they differ: expect is slow with millions of numbers.
    expect(actual.length).toBe(expected.length);
    expected.forEach((one, i) => {
      if (!one.equals(actual[i]!)) expect(actual[i]).toEqual(one);
    });
    found ||= expected.length > 0;
  }
  return found;
}
const sameText = (text: string): boolean => same(Buffer.from(text));

const JWT = `eyJ${Buffer.from('{"alg":"HS256"}').toString('base64url').slice(3)}`;
const HIDDEN = Buffer.from('export TOKEN=hunter2hunter2 # of mkessler, tel. +49 30 1234567').toString('base64');
const LINES = [
  '{"a":"token mkessler","b":[1,-2.5e+3,true,false,null,{"password":"x"}]}',
  '{"headers":[{"name":"Authorization","value":"Bearer abc"},{"key":"x","val":{"value":"y"}}],"Name":"u","Value":"k"}',
  '["--user","me","-p","secret","",{"a":[]},"x"]',
  '"a line that is a string: user@example.com"',
  '  \t{"blank":"before"}  \r',
  '\ufeff{"mark":"before, mkessler"}',
  '\ufeff mkessler and a byte order mark in text',
  String.raw`{"text":"line\nnext \"quoted\" \\ \/ \b\f\r\t \u00e9 \ud83d\ude00 \ud83d \ude00 \ud83d\u0041 end"}`,
  String.raw`{"k\u0065y":"v","pass\nword":"v","\ud83d":"v"}`,
  String.raw`{"inner":"{\"token\":\"a\\nb\",\"deep\":\"[\\\"mkessler\\\",\\\"{\\\\\\\"pw\\\\\\\":\\\\\\\"x\\\\\\\"}\\\"]\"}"}`,
  String.raw`C:\users\mkessler\new \x41\x4 \e[31m \033[0m \u12 \u00e4 \e`,
  'tail \\e',
  'tail \\',
  '{"open":"mkessler',
  '{"bad":"\u0001"} {"bad":"\\q"} {"n":01} [1,] {,} {"a" 1}',
  '[[[[1]]]',
  `${'['.repeat(511)}"mkessler"${']'.repeat(511)}`,
  `${'['.repeat(513)}"mkessler"${']'.repeat(513)}`,
  'a%20b%3Dtoken%3d%41%4 &quot;mkessler&amp;amp;&#39;&#x2F;&nope; &lt',
  '\u001b[31mred mkes\u001b[0msler \u001b]0;title\u0007 \u001b]8;;x\u001b\\link \u001b(B \u001b[',
  'zero\u200bwidth to\u00adken \u2062 \ufeff mkes\u200d\u200dsler\u200b',
  `base64 ${HIDDEN} and ${Buffer.from('hex token mkessler 1').toString('hex')} and ${JWT}.${HIDDEN}==`,
  `twice ${Buffer.from(HIDDEN).toString('base64')} json ${Buffer.from('{"password":"mkessler"}').toString('base64')}`,
  '10.0.0.1 1.2.3.4.5 255.1.1.1. 1.2.3 00:1b:44:11:3a:b7 00-1B-44-11-3A-B7-00 fe80::1:2 1:2:3:4:5:6:7:8 ::1 a::b::c',
  '+49 30 1234567 +1 (555) 010-9999 4111 1111 1111 1111 123-45-6789 DE89 3704 0044 0532 0130 00 DE8937040044053201300',
  `${'0123456789abcdef'.repeat(2)}-01234567-${'a'.repeat(9)}`,
  'KEY key Key akia AKIAAKIA sk-ant- SK-ANT- xAKIA AKIDAKIA @@ @ K L 5 Q~ q~ -u -U user1 xuser1 \tTRUE\t',
  'aaaaaaaaaaaa aaaa aaaaaa xaaaaaa mkesslerx mkessler kesslerkessler hunter2hunter2hunter2 M\u00fcller \u00fcMller',
  'ghp_pqmBRGHfwbbGyEJ8OvIiM ghp_pqmBRGHf ghp_pqmBRGHfw',
  'drw .d .r ghp_ password=x&y=%27 ----BEGIN -----BEGIN ---- BEGIN',
  '',
  '\n\n',
  '\r\n',
];

describe('both bodies of the scanner tell the same', () => {
  it('of hand-picked lines', () => {
    for (const line of LINES) sameText(line);
    for (const line of LINES) expect(sameText(`${JSON.stringify({ content: line, name: 'token' })}\r\n`)).toBe(true);
    sameText(LINES.join('\n'));
    sameText(`${LINES.map((line) => JSON.stringify([{ text: line }])).join('\n')}\n`);
  });

  it('of every part of a text, and of bytes that are none', () => {
    const text = Buffer.from(LINES.slice(7, 12).join('\n'));
    for (let from = 0; from < text.length; from += 7)
      for (let to = from; to <= text.length; to += 13) same(text, from, to);
    for (let length = 0; length < 200; length++) same(Buffer.alloc(length, 0x61));
    for (let byte = 0; byte < 256; byte++) same(Buffer.from([0x22, byte, 0x22, 0x0a, byte, byte, 0x41, byte]));
  });

  it('of strings and texts that are looked at in windows', { timeout: 120_000 }, () => {
    const piece = 'some text of mkessler \u00e4 with 10.0.0.1, ';
    const long = piece.repeat(Math.ceil((5 << 20) / piece.length));
    const escaped = `${long}"\n\u{1f600}`.repeat(2).slice(0, 9 << 20);
    sameText(JSON.stringify({ key: 'token', value: long }));
    sameText(JSON.stringify({ key: 'token', value: escaped }).replace(/\u{1f600}/gu, String.raw`\ud83d\ude00`));
    sameText(JSON.stringify('\u0001'.repeat(900_000) + long));
    sameText(long);
    const boundary = 'x'.repeat(Limits.window - Limits.overlap - 3);
    sameText(JSON.stringify(`${boundary}mkessler${boundary}`));
    sameText(`"${String.raw`\u00e9`.repeat(Limits.window / 2)}mkessler${String.raw`\ud83d\ude00`.repeat(100_000)}"`);
  });

  it('of more than one result', { timeout: 120_000 }, () => {
    const line = `${JSON.stringify({ a: 'mkessler\n'.repeat(100), password: 'x' })}\n`;
    expect(told(native.second, Buffer.from(line.repeat(12_000)), 0, line.length * 12_000).length).toBeGreaterThan(1);
    sameText(line.repeat(12_000));
  });

  const bases = LINES.flatMap((line) => [
    line,
    JSON.stringify({ content: line }),
    JSON.stringify([JSON.stringify([line])]),
  ]);
  const snippets = [
    '"',
    '\\',
    '\\u',
    '\\ud83d',
    '{"',
    '":"',
    '\n',
    '%41',
    '&amp;',
    '\u001b[0m',
    '\u200b',
    'mkessler',
    HIDDEN,
  ];
  const damaged = (random: Random): boolean => {
    const text = damageText(random.pick(bases), random, snippets);
    const bytes = random.chance(0.5) || text === '' ? Buffer.from(text) : damageBytes(Buffer.from(text), random);
    return same(
      Buffer.concat(random.chance(0.3) ? [bytes, Buffer.from('\n'), Buffer.from(random.pick(bases))] : [bytes]),
    );
  };
  it('of damaged lines', { timeout: 24 * 3600_000 }, () => fuzz('scan lines', fuzzCount(3000), 2000, damaged));
  it('of random bytes', { timeout: 24 * 3600_000 }, () =>
    fuzz('scan bytes', fuzzCount(1500), 2000, (random) => {
      const few = Buffer.from('"\\{}[],:u0dD8n\n a@5K-./%&;#\u001b\u00ad\u200bkey', 'utf8');
      const bytes = Buffer.alloc(random.below(300));
      for (let i = 0; i < bytes.length; i++)
        bytes[i] = random.chance(0.9) ? few[random.below(few.length)]! : random.below(256);
      return same(random.chance(0.3) ? Buffer.from(JSON.stringify(bytes.toString('latin1'))) : bytes);
    }),
  );
});

const text = Buffer.from('{"password":"x"}\n{"password":"y"}\n');

it.each(['native', 'typescript'])('the %s scanner can be used again after its sink threw', (body) => {
  const scanner = (body === 'native' ? native : typescript).first;
  const before = told(scanner, text, 0, text.length);
  const thrown = new Error('of the sink');
  const fail = (): void => {
    throw thrown;
  };
  expect(() => scanner.scan(text, 0, text.length, fail)).toThrow(thrown);
  expect(told(scanner, text, 0, text.length)).toEqual(before);
});

describe('the native scanner', () => {
  it('is of no use once it is closed, which it says', () => {
    const scanner = new addon.ByteScanner(STANDARD.tables, known);
    const text = Buffer.from('mkessler');
    expect(told(scanner, text, 0, text.length)).toHaveLength(1);
    expect(() => scanner.scan(text, 0, text.length, () => scanner.close())).toThrow(/inside its own sink/);
    scanner.close();
    scanner.close();
    expect(() => told(scanner, text, 0, text.length)).toThrow(/closed/);
  });

  it('cannot be used inside its own sink', () => {
    const scanner = native.first;
    const before = told(scanner, text, 0, text.length);
    expect(() => scanner.scan(text, 0, text.length, () => told(scanner, text, 0, 2))).toThrow(/inside its own sink/);
    expect(told(scanner, text, 0, text.length)).toEqual(before);
  });

  it('refuses what is not there, and an input that is taken away', () => {
    const { first } = native;
    const ignore = (): void => undefined;
    expect(() => first.scan(text, -1, 2, ignore)).toThrow(RangeError);
    expect(() => first.scan(text, 0, text.length + 1, ignore)).toThrow(RangeError);
    expect(() => first.scan('text' as never, 0, 1, ignore)).toThrow(TypeError);
    expect(() => first.scan(text, 0, 1, null as never)).toThrow(TypeError);
    const moved = new Uint8Array(text);
    expect(() =>
      first.scan(moved, 0, moved.length, () => structuredClone(moved.buffer, { transfer: [moved.buffer] })),
    ).toThrow(/taken away/);
    const kept: ScanResult[] = [];
    first.scan(text, 0, text.length, (result) => {
      kept.push(result);
      structuredClone(result.leaves.buffer, { transfer: [result.leaves.buffer as ArrayBuffer] });
    });
    expect(kept[0]!.leaves.length).toBe(0);
    expect(same(text)).toBe(true);
  });

  it('refuses tables that do not belong together', () => {
    const { tables } = STANDARD;
    const make = (wrong: object): unknown => new addon.ByteScanner({ ...tables, ...wrong }, null);
    expect(() => make({ flags: new Uint8Array(3) })).toThrow(/do not belong/);
    expect(() => make({ literalStart: tables.literalStart.map((at) => at + 1000) })).toThrow(/do not belong/);
    expect(() => make({ literals: new Uint8Array(3) })).toThrow(/do not belong/);
    expect(() => make({ lengths: new Int32Array(3) })).toThrow(TypeError);
    expect(() => new addon.ByteScanner(tables, { ...known, starts: new Int32Array(2) })).toThrow(/do not belong/);
  });
});

describeShared('both bodies of the scanner tell the same of the corpus', (shared) => {
  const dir = mkdtempSync(join(tmpdir(), 'scan-corpus-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  execFileSync('tar', ['xzf', join(shared, 'corpus', 'sanitize.tar.gz'), '-C', dir]);
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jsonl'));
  it.each(files)('%s', { timeout: 120_000 }, (file) => {
    same(readFileSync(join(dir, file)));
  });
});
