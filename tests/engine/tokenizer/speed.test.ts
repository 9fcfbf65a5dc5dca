import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tokenizerFromJson } from '../../../main/engine/tokenizer/from-json.js';
import type { Tokenizer } from '../../../main/engine/tokenizer/tokenizer.js';
import { describeShared } from '../../support/shared.js';
import { spmTokenizer } from './small-models.js';

const MEGABYTE = 2 ** 20;
const GROWTH = 8;
/** Time may grow three times faster than the text (n log n, caches, collection); at n² it would grow eight times faster. */
const SLACK = 3;
/** Less is noise. */
const FLOOR_MS = 25;

const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  'one letter': (length) => 'a'.repeat(length),
  spaces: (length) => ' '.repeat(length),
  'line ends': (length) => '\n'.repeat(length),
  emoji: (length) => '🙂'.repeat(length / 4),
  'control-like characters': (length) => '<|im_start|'.repeat(length / 11),
  'code and prose': (length) => 'const x = f(12, "Привет, мир");  // 你好 it\'s\n'.repeat(length / 56),
  'no two words alike': (length) => {
    let state = 1;
    return Array.from({ length }, () => {
      state = (state * 48_271) % 0x7fff_ffff;
      return String.fromCharCode(97 + (state % 26));
    }).join('');
  },
};

/** Processor time, so that a busy machine does not count. */
function bestMs(tokenizer: Tokenizer, text: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 2; run++) {
    const began = process.cpuUsage();
    tokenizer.encode(text, { special: true });
    best = Math.min(best, process.cpuUsage(began).user / 1000);
  }
  return Math.max(best, FLOOR_MS);
}

describeShared('encoding a megabyte', (shared) => {
  const file = readFileSync(join(shared, 'golden', 'tokenizer', 'qwen2.tokenizer.json'), 'utf8');
  const tokenizers: Readonly<Record<string, Tokenizer>> = {
    'byte-level BPE': tokenizerFromJson(JSON.parse(file)),
    SentencePiece: spmTokenizer({ addSpacePrefix: false }),
  };
  const cases = Object.keys(tokenizers).flatMap((name) => Object.keys(TEXTS).map((text) => [name, text] as const));

  it.each(cases)(
    '%s, %s: takes no more than a little longer for each character',
    (name, kind) => {
      const tokenizer = tokenizers[name]!;
      const make = TEXTS[kind]!;
      // So that the first measured run does not pay for the compiler.
      tokenizer.encode(make(MEGABYTE / 16), { special: true });
      const [small, large] = [make(MEGABYTE / GROWTH), make(MEGABYTE)].map((text) => bestMs(tokenizer, text));
      expect(large! / small!).toBeLessThan(GROWTH * SLACK);
    },
    120_000,
  );
});
