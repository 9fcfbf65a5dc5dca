import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sanitizeLines } from '../../main/sanitize/sanitize.js';
import { describeShared } from '../support/shared.js';

interface Case {
  id: string;
  soft?: boolean;
  policy?: boolean;
  text: string;
  spans: { core: [number, number] }[];
}

describeShared('sanitizer corpus', (shared) => {
  const dir = mkdtempSync(join(tmpdir(), 'sanitize-corpus-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  execFileSync('tar', ['xzf', join(shared, 'corpus', 'sanitize.tar.gz'), '-C', dir]);
  const load = (file: string): Case[] =>
    readFileSync(join(dir, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Case);

  test('planted values are gone from nearly all records, and every record still parses', () => {
    let spans = 0;
    let gone = 0;
    for (const { text, spans: planted, policy } of load('positive/shared.jsonl')) {
      const { lines, withheld } = sanitizeLines([text]);
      JSON.parse(lines[0]!);
      expect(withheld).toEqual([]);
      if (policy) continue;
      for (const { core } of planted) {
        spans++;
        if (!lines[0]!.includes(text.slice(...core))) gone++;
      }
    }
    expect(spans).toBeGreaterThan(900);
    expect(gone / spans).toBeGreaterThan(0.96);
  });

  test('records without secrets stay as they are', () => {
    const cases = load('negative/shared.jsonl').filter(({ soft }) => !soft);
    const changed = cases.filter(({ text }) => sanitizeLines([text]).lines[0] !== text).map(({ id }) => id);
    expect(cases.length).toBeGreaterThan(300);
    expect(changed.length / cases.length).toBeLessThan(0.01);
  });

  test('nothing planted survives in whole sessions', () => {
    const files = readdirSync(join(dir, 'sessions', 'shared')).filter((file) => file.endsWith('.jsonl'));
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) {
      const lines = readFileSync(join(dir, 'sessions', 'shared', file), 'utf8')
        .trim()
        .split('\n');
      const gold = JSON.parse(
        readFileSync(join(dir, 'sessions', 'shared', file.replace('.jsonl', '.gold.json')), 'utf8'),
      ) as Record<string, { value: string }>;
      const out = sanitizeLines(lines);
      expect(out.withheld).toEqual([]);
      for (const [i, line] of out.lines.entries())
        for (const { value } of Object.values(gold)) expect(line.includes(value), `${file}:${i}`).toBe(false);
    }
  });
});
