/** Rows of a report: where, how to get there, and what stands around in the cleaned copy. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { sanitizeCommand } from '../../main/sanitize/cli.js';
import type { ReportRow } from '../../main/sanitize/report.js';
import { inventedTokens } from './support.js';

const dir = mkdtempSync(join(tmpdir(), 'tackroom-report-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const TOKEN = inventedTokens('report')['github-pat']!;
const OTHER = inventedTokens('report')['npm-token']!;

async function rowsOf(
  input: string,
  eachLine = false,
): Promise<{ rows: (ReportRow & { count: number })[]; clean: string }> {
  const file = join(dir, 'in');
  const report = join(dir, 'report');
  writeFileSync(file, input);
  const stdout = new PassThrough();
  const io = { stdin: Readable.from([]), stdout, stderr: new PassThrough() };
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await sanitizeCommand({ file, report, eachLine, home: dir }, io);
  const text = readFileSync(report, 'utf8');
  expect(text).not.toContain(TOKEN);
  expect(text).not.toContain(OTHER);
  const rows = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ReportRow & { count: number });
  return { rows, clean: Buffer.concat(chunks).toString() };
}

const RECORDS = [
  { type: 'user', message: { content: [{ text: `first ${TOKEN} then é ${OTHER} and the end` }] } },
  { type: 'note', nothing: 'here' },
  { type: 'tool', arguments: JSON.stringify({ command: `curl -H "Authorization: token ${TOKEN}" x` }), 'a b': OTHER },
];

for (const eachLine of [false, true])
  test(`of JSON records${eachLine ? ', each a session' : ''}`, async () => {
    const { rows, clean } = await rowsOf(RECORDS.map((record) => `${JSON.stringify(record)}\n`).join(''), eachLine);
    expect(rows.map(({ line, path, family }) => [line, path, family])).toEqual([
      [0, 'message.content[0].text', 'github-pat'],
      [0, 'message.content[0].text', 'npm-token'],
      [2, 'arguments', 'github-pat'],
      [2, '["a b"]', 'npm-token'],
    ]);
    const lines = clean.split('\n');
    for (const { line, before, after, placeholder } of rows)
      expect(lines[line]).toContain(before + placeholder + after);
    expect(rows[0]!.after).toMatch(/^ then é REDACTED_NPM_TOKEN_1 and the/);
    expect(rows[1]!.before).toContain('first REDACTED_GITHUB_PAT_1 then é ');
    expect(rows.map(({ count }) => count)).toEqual(eachLine ? [1, 1, 1, 1] : [2, 2, 2, 2]);
  });

test('of plain text, and at both ends of a line', async () => {
  const { rows } = await rowsOf(`${TOKEN}\nnothing\nx ${OTHER}`);
  expect(rows.map(({ line, path, before, after }) => [line, path, before, after])).toEqual([
    [0, '', '', ''],
    [2, '', 'x ', ''],
  ]);
});

test('characters are not cut', async () => {
  const { rows } = await rowsOf(JSON.stringify({ text: `${'é'.repeat(60)} ${TOKEN} ${'é'.repeat(60)}` }));
  expect(rows[0]!.before).toMatch(/^é+ $/);
  expect(rows[0]!.after).toMatch(/^ é+$/);
});
