import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenizerFromGguf } from '../../../main/engine/tokenizer/from-gguf.js';
import { anyText } from './samples.js';
import { SPM_TOKENS, spmMetadata, spmTokenizer } from './small-models.js';

const plain = spmTokenizer({ addSpacePrefix: false });
const prefixed = spmTokenizer({ addSpacePrefix: true });
const words = (text: string, options = { special: false }, tokenizer = plain) =>
  tokenizer.encode(text, options).map((id) => SPM_TOKENS[id]);

/** The definition itself: of all neighbours that make a token merge the one with the highest score, leftmost first. */
function mergeByDefinition(text: string): string[] {
  const scores = spmMetadata(false).get('tokenizer.ggml.scores') as Float32Array;
  const normal = new Map(SPM_TOKENS.map((token, id) => [token, id] as const).slice(261));
  const parts = [...text.replaceAll(' ', '\u2581')];
  for (;;) {
    let best = -1;
    let score = Number.NEGATIVE_INFINITY;
    for (let i = 0; i + 1 < parts.length; i++) {
      const id = normal.get(parts[i]! + parts[i + 1]!);
      if (id !== undefined && scores[id]! > score) {
        best = i;
        score = scores[id]!;
      }
    }
    if (best < 0) break;
    parts.splice(best, 2, parts[best]! + parts[best + 1]!);
  }
  const byte = (value: number) => `<0x${value.toString(16).toUpperCase().padStart(2, '0')}>`;
  return parts.flatMap((part) => (normal.has(part) ? [part] : [...Buffer.from(part, 'utf8')].map(byte)));
}

describe('SentencePiece BPE by scores', () => {
  it('merges the highest score first', () => {
    expect(words('hello world')).toEqual(['he', 'l', 'lo', '\u2581world']);
    expect(words('aaaaaaa')).toEqual(['aaaa', 'aa', 'a']);
  });

  it('merges as its definition says', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'abehlorwd', ' ', 'ж', '🙂', '<', 's'), maxLength: 60 });
    fc.assert(
      fc.property(
        letters.filter((text) => !/ {2}|<s>/.test(text)),
        (text) => {
          expect(words(text)).toEqual(mergeByDefinition(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('spells what it has no token for in bytes', () => {
    expect(words('ж')).toEqual(['<0xD0>', '<0xB6>']);
    expect(words('<0x41>').join('')).not.toBe('<0x41>');
  });

  it('puts its space before a text and after an added token, and takes it away again', () => {
    expect(words('world', { special: false }, prefixed)).toEqual(words(' world'));
    expect(words('</s>w', { special: true }, prefixed)).toEqual(['</s>', '\u2581w']);
    expect(prefixed.decode(prefixed.encode('hello world', { special: false }))).toBe('hello world');
    const continued = prefixed.decodeBytes(prefixed.encode('world', { special: false }), { continued: true });
    expect(Buffer.from(continued).toString()).toBe(' world');
  });

  it('takes user-defined tokens out of any text, control tokens only when asked', () => {
    expect(words('a<tool>  b')).toEqual(['a', '<tool>', '  ', 'b']);
    expect(words('<s>a</s>', { special: true })).toEqual(['<s>', 'a', '</s>']);
    expect(words('<s>a</s>')).toEqual(['<s', '>', 'a', '<', '/', 's', '>']);
  });

  it.each([
    ['with', prefixed],
    ['without', plain],
  ])('gives every text back byte for byte, %s a space of its own', (_name, tokenizer) => {
    // After an added token the space of its own cannot be told from one of the text; nor can U+2581 from a space.
    const safe = anyText.filter((text) => !/\u2581|<tool>| {2}/.test(text));
    fc.assert(
      fc.property(safe, (text) => {
        const ids = tokenizer.encode(text, { special: false });
        expect(Buffer.from(tokenizer.decodeBytes(ids)).equals(Buffer.from(text, 'utf8'))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses a file whose parts do not fit', () => {
    const broken = (key: string, value: Parameters<Map<string, never>['set']>[1] | object | number | undefined) => {
      const metadata = spmMetadata(false);
      if (value === undefined) metadata.delete(`tokenizer.ggml.${key}`);
      else metadata.set(`tokenizer.ggml.${key}`, value as never);
      return () => tokenizerFromGguf({ metadata });
    };
    const corrupt = expect.objectContaining({ code: 'MODEL_CORRUPT' });
    expect(broken('scores', Float32Array.of(1))).toThrow(corrupt);
    expect(broken('scores', undefined)).toThrow(corrupt);
    expect(broken('token_type', Int32Array.of(1))).toThrow(corrupt);
    expect(broken('tokens', undefined)).toThrow(corrupt);
    expect(broken('eos_token_id', 100_000)).toThrow(corrupt);
    expect(broken('model', 'wordpiece' as never)).toThrow(expect.objectContaining({ code: 'MODEL_UNSUPPORTED' }));
    expect(broken('model', undefined)).toThrow(expect.objectContaining({ code: 'MODEL_UNSUPPORTED' }));
  });
});
