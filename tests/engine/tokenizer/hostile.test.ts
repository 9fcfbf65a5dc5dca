/** What a file of a model could do to the engine, one kind of attack a case. */
import { describe, expect, it } from 'vitest';
import { ChatTemplate } from '../../../main/engine/chat-template.js';
import { strftimeNow } from '../../../main/engine/strftime-now.js';
import { tokenizerFromGguf } from '../../../main/engine/tokenizer/from-gguf.js';
import { tokenizerFromJson } from '../../../main/engine/tokenizer/from-json.js';
import { isSafePattern } from '../../../main/engine/tokenizer/safe-pattern.js';
import { damagedTokenizer, SOUND_TOKENIZER, TEMPLATE_BOMBS } from './fuzz-inputs.js';
import { PATTERNS, Random } from './fuzz-random.js';
import { spmMetadata } from './small-models.js';

interface Parts {
  added_tokens?: unknown;
  pre_tokenizer?: unknown;
  normalizer?: unknown;
  post_processor?: unknown;
  model?: object;
}
function open({ model, ...parts }: Parts) {
  const file = JSON.parse(SOUND_TOKENIZER) as { model: object };
  return tokenizerFromJson({ ...file, ...parts, model: { ...file.model, ...model } });
}
const code = (expected: string) => expect.objectContaining({ code: expected });
const refuses = (parts: Parts, expected: string) => expect(() => open(parts)).toThrow(code(expected));

/** Processor time of a call that may throw, in milliseconds. */
function msOf(call: () => unknown): number {
  const began = process.cpuUsage();
  try {
    call();
  } catch {
    // Only the time matters here.
  }
  return process.cpuUsage(began).user / 1000;
}

describe('a number of a file', () => {
  it.each([-1, 0.5, 2 ** 17, 2 ** 24, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '1', null])(
    'makes no list longer than the file: the id %s',
    (id) => {
      refuses({ model: { vocab: { a: 0, b: id }, merges: [] } }, 'TOKENIZER_MISMATCH');
      refuses({ added_tokens: [{ id, content: '<s>' }] }, 'TOKENIZER_MISMATCH');
    },
  );

  it('leaves room for the holes of real vocabularies', () => {
    const { vocabSize } = open({ added_tokens: [{ id: 5000, content: '<s>', special: true }] });
    expect(vocabSize).toBe(5001);
  });

  it('is no reason to work without end', () => {
    refuses({ pre_tokenizer: { type: 'FixedLength', length: 0 } }, 'TOKENIZER_MISMATCH');
    refuses({ pre_tokenizer: { type: 'FixedLength', length: -1 } }, 'TOKENIZER_MISMATCH');
    refuses({ model: { type: 'WordPiece', max_input_chars_per_word: 1e9 } }, 'MODEL_UNSUPPORTED');
  });
});

describe('the parts of a file', () => {
  it.each(['pre_tokenizer', 'normalizer', 'post_processor', 'decoder'])('do not nest without end: %s', (part) => {
    let step: object = { type: 'ByteLevel' };
    for (let depth = 0; depth < 100_000; depth++)
      step = { type: 'Sequence', pretokenizers: [step], normalizers: [step], processors: [step], decoders: [step] };
    refuses({ [part]: step }, 'MODEL_UNSUPPORTED');
  });

  it('do not make a text grow without end', () => {
    const replace = { type: 'Replace', pattern: { String: 'a' }, content: 'aaaaaaaa' };
    refuses({ normalizer: { type: 'Sequence', normalizers: [replace, replace] } }, 'MODEL_UNSUPPORTED');
    refuses({ normalizer: { ...replace, content: "$`$'" } }, 'MODEL_UNSUPPORTED');
    expect(() => open({ normalizer: replace })).not.toThrow();
  });

  it('have no added token that every place of a text is compared with', () => {
    refuses({ added_tokens: [{ id: 1, content: 'a'.repeat(2000) }] }, 'MODEL_UNSUPPORTED');
    const metadata = spmMetadata(false);
    const tokens = [...(metadata.get('tokenizer.ggml.tokens') as string[])];
    tokens[1] = 'a'.repeat(2000);
    metadata.set('tokenizer.ggml.tokens', tokens);
    expect(() => tokenizerFromGguf({ metadata })).toThrow(code('MODEL_CORRUPT'));
  });

  it('may have the names that objects of JavaScript have', () => {
    const vocab = JSON.parse('{"__proto__": 0, "constructor": 1, "toString": 2}') as object;
    const tokenizer = open({ model: { vocab, merges: [] }, added_tokens: [], pre_tokenizer: null });
    expect(['__proto__', 'constructor', 'toString', 'valueOf'].map((text) => tokenizer.tokenToId(text))).toEqual([
      0,
      1,
      2,
      null,
    ]);
  });
});

describe('an expression of a file', () => {
  const split = (Regex: string) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false });

  it.each(PATTERNS.filter((pattern) => pattern !== '\\p{L}+|\\s+'))('is not run: %s', (pattern) => {
    if (isSafePattern(pattern)) expect(() => new RegExp(pattern, 'u')).toThrow();
    expect(() => open({ pre_tokenizer: split(pattern) })).toThrow(code('MODEL_UNSUPPORTED'));
  });

  it.each([
    '\\p{N}',
    '\\p{N}{1,3}',
    '[0-9][0-9][0-9]',
    '\\s?\\p{L}+',
    ' {2,}',
    '[\\r\\n]',
    '[一-龥\u3040-ゟ゠-ヿ]+',
    '\\p{L}+|\\s+',
  ])('is run where its time is linear: %s', (pattern) => {
    const tokenizer = open({
      pre_tokenizer: { type: 'Sequence', pretokenizers: [split(pattern), { type: 'ByteLevel', use_regex: false }] },
    });
    for (const text of ['a', ' ', '1', 'a ', '\n'])
      expect(msOf(() => tokenizer.encode(text.repeat(50_000 / text.length), { special: false }))).toBeLessThan(5000);
  });

  it('that repeats in the middle is not linear', () => {
    for (const pattern of ['a+b', 'a*a*', '\\s+$', 'a?+', '(a)', 'a|', 'a{1,3}+', 'a{12}', '\\1', '\\bx', '^a'])
      expect(isSafePattern(pattern), pattern).toBe(false);
  });
});

describe('a chat template', () => {
  const render = (source: string) =>
    new ChatTemplate(source).render({
      messages: [{ role: 'user', content: 'U' }],
      tools: [],
      bosToken: '',
      eosToken: '',
    });

  const bombs = TEMPLATE_BOMBS.filter((bomb) => !bomb.includes('**'));
  it.each(bombs.map((bomb) => [bomb.slice(0, 60), bomb]))('stops: %s', (_name, bomb) => {
    let thrown: unknown;
    const ms = msOf(() => {
      try {
        render(bomb);
      } catch (error) {
        thrown = error;
      }
    });
    expect(['BAD_ARGUMENT', 'MODEL_UNSUPPORTED']).toContain((thrown as { code?: string }).code);
    expect(ms).toBeLessThan(5000);
  });

  it('has room for long conversations', () => {
    const messages = Array.from({ length: 1000 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${index} ${'text '.repeat(20)}`,
    }));
    const source = `{%- set ns = namespace(n=0) %}{%- for m in messages %}{%- if loop.first or messages[loop.index0 - 1].role != m.role %}{%- set ns.n = ns.n + 1 %}{%- endif %}{{- m.role ~ ': ' ~ (m.content | trim) }}{%- for part in m.content.split('x') %}{%- if part is string %}{%- endif %}{%- endfor %}{%- endfor %}{{- messages | length }}{{- ns.n }}`;
    const text = new ChatTemplate(source).render({ messages, tools: [], bosToken: '', eosToken: '' });
    expect(text.endsWith('10001000')).toBe(true);
  });

  it('sees the time as Python writes it, and ranges', () => {
    const now = new Date(2026, 6, 4, 13, 5, 9);
    expect(strftimeNow('%Y-%m-%d %d %b %B %a %A %H:%M:%S %I %p %y %% %q', now)).toBe(
      '2026-07-04 04 Jul July Sat Saturday 13:05:09 01 PM 26 % %q',
    );
    expect(render('{{ range(3) | join }}{{ range(5, 0, -2) | join }}{{ range(2, 2) | length }}')).toBe('0125310');
    expect(() => render('{{ range(1.5) }}')).toThrow(code('BAD_ARGUMENT'));
  });
});

it('the same number gives the same input', () => {
  expect(damagedTokenizer('bytes', new Random(1, 7))).toBe(damagedTokenizer('bytes', new Random(1, 7)));
  expect(damagedTokenizer('bytes', new Random(1, 7))).not.toBe(damagedTokenizer('bytes', new Random(1, 8)));
});
