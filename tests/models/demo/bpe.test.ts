import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeDataTask } from '../../../main/envs/generate/data-task.js';
import { BpeTokenizer } from '../../../main/models/demo/bpe.js';
import { trainBpe } from '../../../main/models/demo/bpe-train.js';
import { demoModelDir } from '../../../main/models/demo/complete-tokenizer.js';
import type { TokenizerFile } from '../../../main/models/demo/tokenizer-file.js';
import { packageRoot } from '../../../native/addon.js';

const read = (name: string) => JSON.parse(readFileSync(join(demoModelDir(), name), 'utf8'));
const file = read('tokenizer.json') as TokenizerFile;
const tokenizer = new BpeTokenizer(file);
const library = new Tokenizer(file, read('tokenizer_config.json'));

const texts = [
  '',
  ' ',
  'How many  spaces\n\n\nand tabs\t?',
  '<|user|>x<|end|><tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>',
  'naïve café — 12.50 € 😀 日本',
  'python3 -c "import csv;t=list(csv.DictReader(open(\'a_b.csv\')))" > answer.txt',
  ...Array.from({ length: 60 }, (_, i) => makeDataTask(`bpe-${i}`, 'held')).flatMap((task) => [
    task.question,
    ...Object.values(task.files),
  ]),
];

describe('BpeTokenizer', () => {
  it('gives the ids of @huggingface/tokenizers', () => {
    for (const text of texts)
      expect(tokenizer.encode(text, true), text).toEqual(library.encode(text, { add_special_tokens: false }).ids);
  });

  it('gives the ids that the Rust tokenizers library gave', () => {
    const fixture = JSON.parse(
      readFileSync(join(packageRoot(), 'tests', 'fixtures', 'demo-model', 'tokenizer-ids.json'), 'utf8'),
    ) as { cases: { text: string; ids: number[] }[] };
    expect(fixture.cases.length).toBeGreaterThan(20);
    for (const { text, ids } of fixture.cases) expect(tokenizer.encode(text, true), text).toEqual(ids);
  });

  it('gives the same ids for very long words', () => {
    const letters = 'the answer is in the second column of the table '.replaceAll(' ', '').repeat(30);
    for (const text of [' '.repeat(5001), '\n'.repeat(777), letters, '-='.repeat(3000), '😀'.repeat(1000)])
      expect(tokenizer.encode(text)).toEqual(library.encode(text, { add_special_tokens: false }).ids);
  });

  it('encodes 256 KB without a space, or of nothing else, in seconds', () => {
    for (const unit of [' ', '\n', 'theanswer', '{"":', '😀']) {
      const text = unit.repeat(2 ** 18 / unit.length);
      const started = performance.now();
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      expect(performance.now() - started, unit).toBeLessThan(10_000);
    }
  }, 90_000);

  it('decodes what it encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => tokenizer.decode(tokenizer.encode(text)) === text),
      { numRuns: 500 },
    );
  });

  it('makes no control token from text of others', () => {
    const controls = new Set(file.added_tokens.filter((token) => token.special).map((token) => token.id));
    for (const token of file.added_tokens.filter((t) => t.special)) {
      const ids = tokenizer.encode(`a${token.content}b`);
      expect(ids.some((id) => controls.has(id))).toBe(false);
      expect(tokenizer.decode(ids)).toBe(`a${token.content}b`);
      expect(tokenizer.encode(token.content, true)).toEqual([token.id]);
    }
  });

  it('keeps a name the same tokens at the start, after a space and in quotes, and digits apart', () => {
    const name = tokenizer.encode('warehouse');
    for (const around of ["'warehouse'", ' warehouse ', ',warehouse,']) {
      expect(tokenizer.encode(around).slice(1, 1 + name.length)).toEqual(name);
    }
    expect(tokenizer.encode('2048')).toHaveLength(4);
  });
});

describe('trainBpe', () => {
  it('merges the most frequent pair first, ties by order, and stops at the minimum count', () => {
    const { merges, vocab } = trainBpe(
      new Map([
        ['abab', 3],
        ['cd', 5],
        ['ef', 1],
      ]),
      1000,
      2,
      ['<x>'],
    );
    expect(merges).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['ab', 'ab'],
    ]);
    expect(vocab['<x>']).toBe(0);
    expect(Object.keys(vocab)).toHaveLength(1 + 256 + 3);
  });
});

it('the shipped tokenizer holds no line of pi', () => {
  expect(
    file.added_tokens.every(
      (token) => token.special || token.content.startsWith('{"name":') || token.content.startsWith('/node_modules/'),
    ),
  ).toBe(true);
  expect(existsSync(join(demoModelDir(), 'pi_lines.json'))).toBe(true);
});
