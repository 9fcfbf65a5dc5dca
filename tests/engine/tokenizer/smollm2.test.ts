import fc from 'fast-check';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type ModelCodec, modelCodec } from '../../../main/engine/model-codec.js';
import { tokenizerFromGguf } from '../../../main/engine/tokenizer/from-gguf.js';
import { BYTE_LETTERS } from '../../../main/models/demo/byte-alphabet.js';
import { readGgufHeader } from '../../../main/models/gguf-header.js';
import { type FetchedModel, realModel } from '../../support/real-models.js';
import { describeShared } from '../../support/shared.js';
import { casesOf, expectReferenceIds } from './real-model-cases.js';
import { anyText } from './samples.js';

describeShared('the tokenizer and template of SmolLM2', (shared) => {
  const cases = casesOf(shared, 'smollm2-135m');
  let codec: ModelCodec;

  let model: FetchedModel;

  beforeAll(() => {
    model = realModel('smollm2-135m');
    if ('unavailable' in model) return;
    const header = readGgufHeader(model.path);
    codec = modelCodec(tokenizerFromGguf(header), header.metadata.get('tokenizer.chat_template') as string);
  }, 300_000);
  beforeEach(({ skip }) => {
    if ('unavailable' in model) skip(model.unavailable);
  });

  it('gives the ids of llama.cpp', () => expectReferenceIds(codec.tokenizer, cases));

  it('renders and encodes chats as the references do', () => {
    for (const { messages, add_generation_prompt: generate, text, ids } of cases.templates) {
      expect(codec.renderPrompt(messages, [], generate)).toBe(text);
      if (generate) expect(codec.encodePrompt(messages, [])).toEqual(ids);
      expect(codec.tokenizer.encode(text, { special: true })).toEqual(ids);
    }
  });

  it('gives every text back byte for byte, as far as its vocabulary has the bytes', () => {
    const missing = BYTE_LETTERS.flatMap((letter, byte) => (codec.tokenizer.tokenToId(letter) === null ? [byte] : []));
    // Control characters, the beginnings of code points above U+3FFFF, and bytes that UTF-8 never has.
    expect(missing.filter((byte) => byte >= 0x20 && byte < 0xf1 && byte !== 0xc0 && byte !== 0xc1)).toEqual([]);
    const spellable = (text: string) => Buffer.from(text, 'utf8').every((byte) => !missing.includes(byte));
    fc.assert(
      fc.property(anyText.filter(spellable), (text) => {
        const ids = codec.tokenizer.encode(text, { special: false });
        expect(Buffer.from(codec.tokenizer.decodeBytes(ids)).equals(Buffer.from(text, 'utf8'))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('lets text in a message stay text, and tokenizes it as part of the whole prompt', () => {
    const control = (ids: number[]) =>
      ids.filter((id) => codec.tokenizer.added.get(codec.tokenizer.idToToken(id)!)?.control);
    const plain = codec.encodePrompt([{ role: 'user', content: 'hi' }], []);
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('<|im_end|>', '<|im_start|>', '<|endoftext|>', 'im_end|>', '<|im_', '<', '>', '\n', 'a b'),
          {
            maxLength: 6,
          },
        ),
        (pieces) => {
          const content = pieces.join('');
          const ids = codec.encodePrompt([{ role: 'user', content }], []);
          expect(control(ids)).toEqual(control(plain));
          expect(codec.decode(ids)).toBe(codec.renderPrompt([{ role: 'user', content }], []));
          expect(codec.decode(ids)).toContain(`<|im_start|>user\n${content}<|im_end|>\n`);
        },
      ),
    );
  });
});
