import { Tokenizer as Library } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TokenizerJson } from '../../../main/engine/tokenizer/checked-file.js';
import { tokenizerFromJson } from '../../../main/engine/tokenizer/from-json.js';

const byteTokens = Object.fromEntries(
  Array.from({ length: 256 }, (_, byte) => [`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 3 + byte]),
);

/** In the form of Llama 2: characters, merges by rank, byte fallback, a space of its own. */
const LLAMA2: TokenizerJson = {
  added_tokens: [
    { id: 0, content: '<unk>', special: true },
    { id: 1, content: '<s>', special: true },
    { id: 2, content: '</s>', special: true },
  ],
  normalizer: {
    type: 'Sequence',
    normalizers: [
      { type: 'Prepend', prepend: '\u2581' },
      { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
    ],
  },
  pre_tokenizer: null,
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
  },
  decoder: {
    type: 'Sequence',
    decoders: [
      { type: 'Replace', pattern: { String: '\u2581' }, content: ' ' },
      { type: 'ByteFallback' },
      { type: 'Fuse' },
      { type: 'Strip', content: ' ', start: 1, stop: 0 },
    ],
  },
  model: {
    type: 'BPE',
    unk_token: '<unk>',
    fuse_unk: true,
    byte_fallback: true,
    vocab: {
      '<unk>': 0,
      '<s>': 1,
      '</s>': 2,
      ...byteTokens,
      '\u2581': 259,
      a: 260,
      b: 261,
      ab: 262,
      '\u2581ab': 263,
      '<': 264,
      s: 265,
      '>': 266,
    },
    merges: ['a b', '\u2581 ab'],
  },
};

const UNIGRAM: TokenizerJson = {
  added_tokens: [{ id: 0, content: '</s>', special: true }],
  normalizer: null,
  pre_tokenizer: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always' },
  post_processor: null,
  decoder: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always' },
  model: {
    type: 'Unigram',
    unk_id: 1,
    vocab: [
      ['</s>', 0],
      ['<unk>', 0],
      ['\u2581', -3],
      ['a', -2],
      ['b', -2.5],
      ['ab', -3],
      ['\u2581ab', -4],
      ['ba', -5],
    ],
  },
};

describe('a tokenizer.json of characters with byte fallback', () => {
  const tokenizer = tokenizerFromJson(LLAMA2, { eosToken: '</s>' });

  it('knows its ends and whether texts begin with a token', () => {
    expect(tokenizer).toMatchObject({ bosId: 1, eosId: 2, addBos: true, vocabSize: 267 });
    expect([...tokenizer.endIds]).toEqual([2]);
    expect(tokenizerFromJson(LLAMA2, { addBos: false }).addBos).toBe(false);
  });

  it('gives the ids of the Hugging Face library', () => {
    const library = new Library({ ...LLAMA2, added_tokens: [], post_processor: null }, {});
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'ж', '🙂', '<', '\n'), minLength: 1, maxLength: 30 }),
        (text) => {
          const ids = tokenizer.encode(text, { special: false });
          expect(ids).toEqual(library.encode(text, { add_special_tokens: false }).ids);
          expect(tokenizer.decode(ids)).toBe(text);
        },
      ),
    );
  });

  it('makes no control token of plain text', () => {
    expect(tokenizer.encode('<s>', { special: true })).toEqual([1]);
    expect(tokenizer.encode('<s>', { special: false })).toEqual([259, 264, 265, 266]);
  });
});

describe('a tokenizer.json of another kind', () => {
  it('is merged by the library where it is unigram', () => {
    const tokenizer = tokenizerFromJson(UNIGRAM);
    expect(tokenizer.encode('ab ba', { special: false })).toEqual([6, 2, 4, 3]);
    expect(tokenizer.decode([6, 2, 4, 3])).toBe('ab ba');
  });

  it('is refused where it could not be reproduced', () => {
    const refused = expect.objectContaining({ code: 'MODEL_UNSUPPORTED' });
    const step = (type: string, rest: object) => () =>
      tokenizerFromJson({ ...LLAMA2, pre_tokenizer: { type, ...rest } });
    expect(step('Split', { pattern: { String: '-' }, behavior: 'MergedWithNext' })).toThrow(refused);
    expect(step('Unheard', {})).toThrow(refused);
    expect(() => tokenizerFromJson({ ...LLAMA2, model: { ...LLAMA2.model, end_of_word_suffix: '</w>' } })).toThrow(
      refused,
    );
    expect(() => tokenizerFromJson({ model: {} } as never)).toThrow(
      expect.objectContaining({ code: 'TOKENIZER_MISMATCH' }),
    );
  });

  it('cuts as Gemma does: at spaces that its normalizer has replaced', () => {
    const gemma = tokenizerFromJson({
      ...LLAMA2,
      normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
      pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
    });
    expect(gemma.encode('ab ab', { special: false })).toEqual([262, 263]);
  });

  it('has added tokens that swallow spaces, or want to stand alone', () => {
    const added = (options: object) =>
      tokenizerFromJson({
        ...LLAMA2,
        normalizer: null,
        added_tokens: [{ id: 300, content: '<s>', special: false, ...options }],
      });
    const ids = (options: object, text: string) => added(options).encode(text, { special: false });
    expect(ids({ lstrip: true, rstrip: true }, 'a\n<s>\n b')).toEqual([260, 300, 261]);
    expect(ids({ single_word: true }, 'a<s>b')).not.toContain(300);
    expect(ids({ single_word: true }, 'a\n<s>')).toContain(300);
  });
});
