import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { describeShared } from '../support/shared.js';
import { sanitizeLines } from './support.js';

interface Case {
  id: string;
  cls: string;
  soft?: boolean;
  policy?: boolean;
  text: string;
  spans: { start: number; end: number; core: [number, number]; kind: string }[];
}
/** Share of the planted values that must go, by class; of personal data some cannot be told without the command before. */
const BARS: Record<string, number> = { shape: 0.98, context: 0.98, structural: 0.98, pii: 0.95 };

describeShared('sanitizer corpus', (shared) => {
  const dir = mkdtempSync(join(tmpdir(), 'sanitize-corpus-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  execFileSync('tar', ['xzf', join(shared, 'corpus', 'sanitize.tar.gz'), '-C', dir]);
  const load = (file: string): Case[] =>
    readFileSync(join(dir, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Case);

  test('planted values are gone, and every record still parses', () => {
    const by: Record<string, { spans: number; gone: number }> = {};
    for (const { text, spans: planted, policy, cls } of load('positive/shared.jsonl')) {
      const { lines, withheld } = sanitizeLines([text]);
      JSON.parse(lines[0]!);
      expect(withheld).toEqual([]);
      if (policy) continue;
      for (const { core, kind } of planted) {
        const group = kind.startsWith('pii:') ? 'pii' : cls;
        by[group] ??= { spans: 0, gone: 0 };
        by[group].spans++;
        if (!lines[0]!.includes(text.slice(...core))) by[group].gone++;
      }
    }
    for (const [cls, bar] of Object.entries(BARS)) {
      expect(by[cls]!.spans).toBeGreaterThan(80);
      expect(by[cls]!.gone / by[cls]!.spans, cls).toBeGreaterThanOrEqual(bar);
    }
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
