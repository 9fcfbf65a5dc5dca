import { describe, expect, test } from 'vitest';
import { Pseudonyms } from '../../../main/sanitize/pseudonyms.js';
import { SanitizeContext, sanitizeBytes, sanitizeText } from '../../../main/sanitize/sanitize.js';
import { LearntSearch } from '../../../main/sanitize/second/learnt-search.js';
import { invented } from '../support.js';
import { runSanitize } from './support.js';

function search(values: Record<string, string>): (text: string) => string[] {
  const pseudonyms = new Pseudonyms();
  for (const [value, family] of Object.entries(values)) pseudonyms.of(family, Buffer.from(value).toString('latin1'));
  pseudonyms.number();
  const learnt = new LearntSearch(pseudonyms.entities());
  return (text) => learnt.find(Buffer.from(text)).map(({ family }) => family);
}

const escaped = (text: string, times: number): string =>
  times === 0 ? text : escaped(JSON.stringify(text).slice(1, -1), times - 1);
const bytesOf = (text: string): number[] => [...Buffer.from(text)];
const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
const code = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const codes = (text: string): string => Array.from({ length: text.length }, (_, i) => code(text[i]!)).join('');
const percents = (text: string): string =>
  bytesOf(text)
    .map((byte) => `%${hex(byte)}`)
    .join('');

/** By name: what a program makes of a text. */
const ENCODINGS: Record<string, (text: string) => string> = {
  raw: (text) => text,
  'JSON, once': (text) => escaped(text, 1),
  'JSON, twice': (text) => escaped(text, 2),
  'JSON, three times': (text) => escaped(text, 3),
  'JSON with escaped slashes': (text) => escaped(text, 1).replaceAll('/', '\\/'),
  'JSON that is ASCII': (text) => escaped(text, 1).replace(/[^ -~]/g, code),
  'JSON as Go prints it': (text) => escaped(text, 1).replace(/[<>&]/g, code),
  percent: encodeURIComponent,
  'percent, lower case': (text) => encodeURIComponent(text).replace(/%../g, (found) => found.toLowerCase()),
  'a form': (text) => new URLSearchParams({ a: text }).toString().slice(2),
  'every byte in percent': percents,
  'every byte in percent, upper case': (text) => percents(text).toUpperCase(),
  'base64, first': (text) => Buffer.from(`${text} end`).toString('base64'),
  'base64, second': (text) => Buffer.from(`a${text}z`).toString('base64'),
  'base64, third': (text) => Buffer.from(`ab${text}`).toString('base64'),
  'base64url, first': (text) => Buffer.from(text).toString('base64url'),
  'base64url, second': (text) => Buffer.from(`a${text}`).toString('base64url'),
  'base64url, third': (text) => Buffer.from(`ab${text}z`).toString('base64url'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex, upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'codes of characters': codes,
  'codes of characters, upper case': (text) => codes(text).replace(/[a-f]/g, (digit) => digit.toUpperCase()),
  'codes in JSON': (text) => escaped(codes(text), 1),
  'codes in JSON in JSON': (text) => escaped(codes(text), 2),
  'codes of bytes': (text) =>
    bytesOf(text)
      .map((byte) => `\\x${hex(byte)}`)
      .join(''),
};
/** Letters and digits; quotes, slashes and blanks; what is not ASCII, and what no program leaves as it is. */
const VALUES = [
  invented('learnt', 24),
  `a/"b c\\d+${invented('learnt 2', 6)}7`,
  `Grün<&>ß "${invented('learnt 3', 5)}`,
  `line 1\nline\t2 ${invented('learnt 4', 9)}`,
  `🔑 über ${invented('learnt 5', 8)}`,
];

describe('what was learnt is found', () => {
  for (const [name, encode] of Object.entries(ENCODINGS))
    test(name, () => {
      for (const value of VALUES) {
        const find = search({ [value]: 'password' });
        expect(find(`x=${encode(value)};`), value).toContain('password');
        expect(find(`x=${encode(`${value.slice(0, -2)}..`)};`), value).toEqual([]);
      }
    });

  test('with codes for some of its characters', () => {
    const find = search({ [VALUES[0]!]: 'password', marek: 'user' });
    for (const encode of [codes, percents, ENCODINGS['codes of bytes']!])
      for (const [from, to] of [
        [0, 2],
        [7, 15],
        [20, 24],
      ] as const) {
        const value = VALUES[0]!;
        expect(find(`x=${value.slice(0, from)}${encode(value.slice(from, to))}${value.slice(to)};`)).toEqual([
          'password',
        ]);
      }
    expect(find(`{"a":"${codes('by marek.')}"}\n`)).toEqual(['user']);
    expect(find(`{"a":"${codes('by mareks.')}"}\n`)).toEqual([]);
  });

  test('in a long line of codes, wherever it stands', () => {
    const value = VALUES[0]!;
    for (const at of [0, 174_700, 174_770, 200_000]) {
      const line = `${codes('x'.repeat(at))}${codes(value)}${codes('y'.repeat(100_000))}`;
      expect(search({ [value]: 'password' })(`a\n${line}\nb`).length, `${at}`).toBeGreaterThan(0);
    }
  });

  test('wherever in a run of base64 or hex it stands', () => {
    const value = invented('run', 17);
    const find = search({ [value]: 'password' });
    for (let before = 0; before < 9; before++) {
      const text = `${'x'.repeat(before)}${value}${'y'.repeat(9 - before)}`;
      expect(find(Buffer.from(text).toString('base64')).length).toBe(1);
      expect(find(Buffer.from(text).toString('hex')).length).toBe(1);
    }
  });
});

describe('words', () => {
  const find = search({ marek: 'user', 'jo.lane': 'user', hunter22x: 'password', 'Ada Lovelace': 'person' });

  test('short ones and names count as words only', () => {
    const words = ['marek', '/home/marek/x', 'marek_2', '"marek"', '\\tAda Lovelace'];
    for (const text of [...words, 'a\\nmarek', '%2Fmarek%2F', '\\u001b[0mmarek'])
      expect(find(text).length, text).toBe(1);
    for (const text of ['mareks', 'xmarek', 'marek2', 'Ada Lovelaces', 'hunter22xy', 'Marek'])
      expect(find(text), text).toEqual([]);
  });

  test('the folder names of harnesses', () => {
    expect(find('-home-jo-lane-app')).toEqual(['user']);
    expect(find('--Users-jo-lane-app--')).toEqual(['user']);
    expect(find('jo-lane')).toEqual([]);
  });

  test('a stand-in is no leak, whatever was learnt', () => {
    const odd = search({
      REDACTED: 'password',
      'example.com': 'host',
      person1: 'user',
      '192.0.2.1': 'ip',
      user17: 'user',
    });
    expect(odd('REDACTED_GITHUB_PAT_1 person1@example.com person1 192.0.2.1 user17')).toEqual([]);
    expect(odd('see example.com')).toEqual(['host']);
  });

  test('names that every machine has, and values too short to mean anything', () => {
    expect(search({ root: 'user', abc: 'password', abcdefg: 'serial' })('root abc abcdefg')).toEqual([]);
  });
});

test('time grows with the text, not with the number of values', () => {
  const values = Array.from({ length: 10_000 }, (_, i) => invented(`many ${i}`, 24));
  const pseudonyms = new Pseudonyms();
  // Half of them begin alike, as tokens of one vendor do.
  values.forEach((value, i) => {
    pseudonyms.of('password', i % 2 ? value : `sk-proj-${value}`);
  });
  const learnt = new LearntSearch(pseudonyms.entities());
  learnt.find(Buffer.from('warm'));
  const bombs = ['\\'.repeat(2e6), '%'.repeat(2e6), '\\u00'.repeat(5e5), '%41'.repeat(7e5), '\\u0041'.repeat(3e5)];
  const text = Buffer.from(
    `the quick brown fox sk-proj-${'z'.repeat(40)} sk-proj- ${'\\'.repeat(16)}u0061 `.repeat(50_000),
  );
  const began = process.cpuUsage();
  for (const bomb of [text, ...bombs.map((one) => Buffer.from(one))]) expect(learnt.find(bomb)).toEqual([]);
  const spent = process.cpuUsage(began);
  expect((spent.user + spent.system) / 1e6).toBeLessThan(10);
  expect(learnt.find(Buffer.from(values[9_999]!))).toHaveLength(1);
});

describe('in the whole', () => {
  const user = `kestrel${invented('whole', 3, 'bcdfg')}`;
  /** Too short a run to be looked into by the first scan. */
  const overlooked = Buffer.from(user).toString('base64');
  const text = `cd /home/${user}/app\nnothing\nid ${overlooked}\n`;

  test('the line is withheld, and the others stay', () => {
    const { bytes, withheld } = sanitizeBytes(Buffer.from(text));
    expect(withheld).toEqual([2]);
    const lines = bytes.toString().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toBe('cd /home/user1/app');
    expect(lines[1]).toBe('nothing');
    expect(JSON.parse(lines[2]!)).toMatchObject({ tackroom_withheld: true, line: 2 });
  });

  test('a text is not shown, a later one of the session neither', () => {
    expect(sanitizeText(text)).toBeNull();
    const context = new SanitizeContext();
    expect(sanitizeText(`cd /home/${user}/app`, context)).toBe('cd /home/user1/app');
    expect(sanitizeText(`x ${overlooked}`, context)).toBeNull();
  });

  test('the line says which of the whole input it is', async () => {
    const filler = `${'nothing here. '.repeat(70)}\n`.repeat(3_000);
    const { out } = await runSanitize(`cd /home/${user}/app\n${filler}id ${overlooked}\n`);
    expect(JSON.parse(out.trimEnd().split('\n').at(-1)!)).toMatchObject({ tackroom_withheld: true, line: 3_001 });
  });

  test('the command says so by its exit code', async () => {
    const { code: exitCode, out, err } = await runSanitize(text);
    expect(exitCode).toBe(3);
    expect(out).not.toContain(overlooked);
    expect(err).toContain('1 of 3 lines');
  });
});
