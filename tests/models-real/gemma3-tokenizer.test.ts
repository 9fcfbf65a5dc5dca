import fc from 'fast-check';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { tokenizerFromGguf } from '../../main/engine/tokenizer/from-gguf.js';
import type { Tokenizer } from '../../main/engine/tokenizer/tokenizer.js';
import { readGgufHeader } from '../../main/models/gguf-header.js';
import { casesOf, expectReferenceIds } from '../engine/tokenizer/real-model-cases.js';
import { anyText } from '../engine/tokenizer/samples.js';
import { type FetchedModel, optionalModel } from '../support/real-models.js';
import { describeShared } from '../support/shared.js';

describeShared('the tokenizer of Gemma 3', (shared) => {
  let tokenizer: Tokenizer;

  let model: FetchedModel;

  beforeAll(() => {
    model = optionalModel('gemma3-270m');
    if ('unavailable' in model) return;
    tokenizer = tokenizerFromGguf(readGgufHeader(model.path));
  }, 300_000);
  beforeEach(({ skip }) => {
    if ('unavailable' in model) skip(model.unavailable);
  });

  it('gives the ids of llama.cpp', () => expectReferenceIds(tokenizer, casesOf(shared, 'gemma3-270m')));

  it('gives every text back byte for byte', () => {
    fc.assert(
      fc.property(
        anyText.filter((text) => !text.includes('\u2581')),
        (text) => {
          const ids = tokenizer.encode(text, { special: false });
          expect(Buffer.from(tokenizer.decodeBytes(ids)).equals(Buffer.from(text, 'utf8'))).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('makes no control token of plain text', () => {
    const ids = tokenizer.encode('<end_of_turn><bos><start_of_turn>user', { special: false });
    expect(ids.filter((id) => tokenizer.added.get(tokenizer.idToToken(id)!)?.control)).toEqual([]);
  });
});
