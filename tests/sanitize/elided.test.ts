import { expect, it } from 'vitest';
import { inventedTokens, sanitizeLines } from './support.js';

const token = inventedTokens('elided-7')['github-pat']!;
const clean = (text: string): string =>
  (JSON.parse(sanitizeLines([JSON.stringify({ text })]).lines[0]!) as { text: string }).text;

it.each([
  [
    'its end',
    `AssertionError: 'http[35 chars]${token.slice(-19)}@box/app.git' != 'http[35 chars]${token.slice(-19)}@box/app'`,
  ],
  ['its beginning', `'Bearer ${token.slice(0, 22)}[18 chars] x' != 'Bearer None'`],
  ['both', `'${token.slice(4, 16)}[9 chars]${token.slice(-12)}' != ''`],
])('what is left of a token where the rest was cut out goes: %s', (_, text) => {
  const out = clean(text);
  for (let at = 4; at + 8 <= token.length; at++) expect(out).not.toContain(token.slice(at, at + 8));
  expect(out).toContain(' chars]');
});

it.each([
  `AssertionError: 'Lorem ipsum dolor sit amet[51 chars]consectetur adipiscing' != 'Lorem'`,
  `'test_reads_every_row_of_[12 chars]rental_list_2026' != ''`,
  `"{'boat': 'heron', 'days': 3, 'ra[40 chars]'rate': 20}" != ''`,
  `a line of [80 chars]`,
  `'/usr/lib/python3[30 chars]unittest/case.py' != ''`,
])('words stay: %s', (text) => {
  expect(clean(text)).toBe(text);
});
