import { describe, expect, it } from 'vitest';
import { checkAnswer } from '../../../main/envs/generate/check-answer.js';
import { KIND_NAMES, makeDataTask } from '../../../main/envs/generate/data-task.js';
import { heldWords, poolsOf } from '../../../main/envs/generate/pools.js';

const wordsIn = (text: string) =>
  (text.toLowerCase().match(/[a-z_]+/g) ?? []).flatMap((word) => [word, ...word.split('_')]);

describe('makeDataTask', () => {
  it('gives the same task for the same seed and another for another', () => {
    for (const kind of KIND_NAMES) {
      expect(makeDataTask('7', 'held', { kind })).toEqual(makeDataTask('7', 'held', { kind }));
      expect(makeDataTask('7', 'held', { kind })).not.toEqual(makeDataTask('8', 'held', { kind }));
    }
  });

  it('draws every kind, csv, json and log files, named and unnamed files, decoys', () => {
    const tasks = Array.from({ length: 400 }, (_, i) => makeDataTask(`cover-${i}`, 'train'));
    expect(new Set(tasks.map((task) => task.kind))).toEqual(new Set(KIND_NAMES));
    expect(KIND_NAMES.length).toBeGreaterThanOrEqual(14);
    expect(new Set(tasks.map((task) => task.schema.format))).toEqual(new Set(['csv', 'json', 'log']));
    expect(new Set(tasks.map((task) => task.schema.fileNamed))).toEqual(new Set([true, false]));
    expect(new Set(tasks.map((task) => Object.keys(task.files).length))).toEqual(new Set([1, 2]));
  });

  it('names the file in the question exactly where the schema says so', () => {
    for (let i = 0; i < 200; i++) {
      const task = makeDataTask(`named-${i}`, 'held');
      expect(task.question.includes(task.schema.file)).toBe(task.schema.fileNamed);
      expect(task.files).toHaveProperty([task.schema.file]);
    }
  });
});

describe('the two splits', () => {
  it('share no pool word', () => {
    const train = poolsOf('train');
    const all = [
      train.entities,
      Object.keys(train.categories),
      Object.values(train.categories).flat(),
      train.numbers,
      train.labels,
      train.logWords,
      train.logNames,
    ].flat();
    const held = heldWords();
    expect(all.filter((word) => held.has(word.toLowerCase()))).toEqual([]);
    expect(held.size).toBeGreaterThan(100);
  });

  it('never show a held-out word in a training task, also not from invented names', () => {
    const held = heldWords();
    const pieces = ['lin', 'en', 'sil', 'k', 'wine', 's'];
    for (let i = 0; i < 1500; i++) {
      const task = makeDataTask(`leak-${i}`, 'train', { pieces, pieceShare: 0.5 });
      const text = [task.question, ...Object.keys(task.files), ...Object.values(task.files)].join('\n');
      expect(wordsIn(text).filter((word) => held.has(word))).toEqual([]);
    }
  });
});

describe('checkAnswer', () => {
  const text = { answer: 'gold', numeric: false, tolerance: 0.0051 };
  const number = { answer: '12.35', numeric: true, tolerance: 0.0051 };
  it.each([
    [text, 'gold\n', true],
    [text, 'Gold', false],
    [text, '', false],
    [text, null, false],
    [number, '12.35', true],
    [number, ' 12.346\n', true],
    [number, '12.36', false],
    [number, '12.35 EUR', false],
    [number, '', false],
    [number, 'NaN', false],
    [number, null, false],
    [{ ...number, answer: '5' }, '5.0', true],
    [{ ...number, answer: '5' }, '6', false],
  ])('%j with content %j is %s', (task, content, expected) => {
    expect(checkAnswer(task, content)).toBe(expected);
  });
});
