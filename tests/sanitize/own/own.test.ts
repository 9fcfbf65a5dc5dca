import { expect, test } from 'vitest';
import { allCases, allLines, changedRegions, score } from './score.js';
import { WRAPS } from './wrap.js';

const cases = allCases();
const className = (id: string): string => id.slice(0, id.indexOf('/'));

test('there are enough cases, each with its own id and text', () => {
  const positives = cases.filter(({ spans }) => spans.length > 0);
  const kinds = new Set(positives.filter(({ id }) => className(id) === 'shape').map(({ kind }) => kind));
  expect(positives.length).toBeGreaterThanOrEqual(250);
  expect(cases.length - positives.length).toBeGreaterThanOrEqual(200);
  expect(kinds.size).toBeGreaterThanOrEqual(60);
  expect(positives.filter(({ id }) => className(id) === 'context').length).toBeGreaterThanOrEqual(40);
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  expect(new Set(cases.map(({ text }) => text)).size).toBe(cases.length);
});

test('only negatives have no labels', () => {
  for (const { id, spans } of cases) expect(spans.length === 0, id).toBe(className(id) === 'negative');
});

test('the same seed gives the same cases and lines', () => {
  expect(allCases()).toEqual(cases);
  expect(allLines().slice(0, 500)).toEqual(allLines(cases).slice(0, 500));
});

test('labels are in order, none is empty, and each record is JSON that holds what they label', () => {
  for (const { own, wrapped } of allLines(cases)) {
    const { line, spans, wrap } = wrapped;
    const where = `${own.id} in ${wrap}`;
    let at = 0;
    for (const { start, end, core } of spans) {
      const ordered = at <= start && start <= core[0] && core[0] < core[1] && core[1] <= end && end <= line.length;
      expect(ordered, where).toBe(true);
      at = end;
    }
    expect(spans.length % Math.max(1, own.spans.length), where).toBe(0);
    expect(line, where).not.toMatch(/[\uE000-\uE003]/);
    if (wrap === 'plain') continue;
    expect(line.includes('\n'), where).toBe(false);
    expect(JSON.stringify(JSON.parse(line)), where).toBe(line);
    // As deep as the text lies in JSON, its label reads back as what it was.
    for (const [i, span] of spans.entries()) {
      const core = own.text.slice(...own.spans[i % own.spans.length]!.core);
      let label = line.slice(...span.core);
      for (let depth = 0; label !== core && depth < 5; depth++) label = JSON.parse(`"${label}"`) as string;
      expect(label, where).toBe(core);
    }
  }
});

test('the score tells a perfect sanitizer from one that does nothing and one that does too much', () => {
  const lines = allLines(cases.filter((_own, i) => i % 29 === 0));
  const byLine = new Map(lines.map(({ wrapped }) => [wrapped.line, wrapped.spans]));
  const perfect = (line: string): string => {
    let out = line;
    for (const { core } of [...byLine.get(line)!].reverse())
      out = `${out.slice(0, core[0])}REDACTED_1${out.slice(core[1])}`;
    return out;
  };
  const best = score(perfect, lines);
  expect(best.failures).toEqual([]);
  const none = score((line) => line, lines);
  for (const [name, { spans, gone, changed }] of Object.entries(none.classes)) {
    expect(gone, name).toBe(0);
    expect(changed, name).toBe(0);
    expect(best.classes[name]!.gone, name).toBe(spans);
  }
  const all = score(() => '"x"', lines);
  expect(all.classes.negative!.changed).toBe(all.classes.negative!.lines);
  expect(all.classes.personal!.overReach).toBe(all.classes.personal!.lines);
  expect(WRAPS.length).toBeGreaterThanOrEqual(15);
});

test('changed regions are those of the input', () => {
  expect(changedRegions('a=secret b=1', 'a=X b=1')).toEqual([[2, 8]]);
  expect(changedRegions('same', 'same')).toEqual([]);
  expect(changedRegions('one two three four', 'one X three Y')).toEqual([
    [4, 7],
    [14, 18],
  ]);
});
