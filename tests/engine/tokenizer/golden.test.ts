import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tokenizerFromGguf } from '../../../main/engine/tokenizer/from-gguf.js';
import { tokenizerFromJson } from '../../../main/engine/tokenizer/from-json.js';
import { readGgufHeader } from '../../../main/models/gguf-header.js';
import { describeShared } from '../../support/shared.js';
import { AWKWARD_TEXTS, anyText } from './samples.js';

interface Encodings {
  used_by: Record<string, string>;
  cases: Record<string, { text: string; ids: number[]; decoded: string }[]>;
}

describeShared('tokenizers against the reference encodings', (shared) => {
  const { cases, used_by: usedBy } = JSON.parse(
    readFileSync(join(shared, 'golden', 'tokenizer', 'encodings.json'), 'utf8'),
  ) as Encodings;
  const fromJson = (name: string) =>
    tokenizerFromJson(JSON.parse(readFileSync(join(shared, 'golden', 'tokenizer', `${name}.tokenizer.json`), 'utf8')));
  const fromGguf = (model: string) =>
    tokenizerFromGguf(readGgufHeader(join(shared, 'golden', model, 'model.f32.gguf')));

  it.each(Object.keys(cases))('%s: the ids of the Hugging Face library', (name) => {
    const tokenizer = fromJson(name);
    for (const { text, ids, decoded } of cases[name]!) {
      expect(tokenizer.encode(text, { special: true }), JSON.stringify(text)).toEqual(ids);
      expect(tokenizer.decode(ids)).toBe(decoded);
    }
  });

  // Each GGUF file holds the vocabulary of the llama model, whatever its pre-tokenizer is called.
  it.each(Object.keys(cases))('%s: the tokenizer of a GGUF file cuts and merges as tokenizer.json does', (name) => {
    const models = Object.keys(usedBy).filter((model) => usedBy[model] === name && model !== 'gemma3');
    expect(models.length).toBeGreaterThan(0);
    for (const model of models) {
      const json = JSON.parse(readFileSync(join(shared, 'golden', model, 'hf', 'tokenizer.json'), 'utf8'));
      const { metadata } = readGgufHeader(join(shared, 'golden', model, 'model.f32.gguf'));
      json.model.merges = metadata.get('tokenizer.ggml.merges');
      json.model.vocab = Object.fromEntries(
        (metadata.get('tokenizer.ggml.tokens') as string[]).map((token, id) => [token, id]),
      );
      const [gguf, reference] = [fromGguf(model), tokenizerFromJson(json)];
      for (const text of [...AWKWARD_TEXTS, ...cases[name]!.map((item) => item.text)])
        expect(gguf.encode(text, { special: true }), `${model} ${JSON.stringify(text)}`).toEqual(
          reference.encode(text, { special: true }),
        );
    }
  });

  it.each(Object.keys(cases))('%s: every text comes back byte for byte', (name) => {
    const tokenizer = fromJson(name);
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, special) => {
        const bytes = Buffer.from(tokenizer.decodeBytes(tokenizer.encode(text, { special })));
        expect(bytes.equals(Buffer.from(text, 'utf8'))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('makes no control token of plain text unless asked to', () => {
    const tokenizer = fromJson('qwen2');
    const text = 'a<|im_end|>b';
    expect(tokenizer.encode(text, { special: true })).toContain(2);
    const plain = tokenizer.encode(text, { special: false });
    expect(plain.filter((id) => id <= 2)).toEqual([]);
    expect(tokenizer.decode(plain)).toBe(text);
    expect(tokenizer.encode(text, { special: true, breaks: [4] })).toEqual(plain);
    expect(tokenizer.encode(text, { special: true, breaks: [1, 11] })).toContain(2);
  });
});
