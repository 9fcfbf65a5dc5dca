/** What is damaged: one small sound file of each kind of tokenizer, and chat templates. */
import { BYTE_LETTERS } from '../../../main/models/demo/byte-alphabet.js';
import { addedToken, CONTROL_TOKENS, tokenizerFile } from '../../../main/models/demo/tokenizer-file.js';
import { type GgufWritable, writeGguf } from '../../support/gguf-writer.js';
import { damageBytes, damageText, damageValue, jsonText, type Random } from './fuzz-random.js';
import { spmMetadata } from './small-models.js';

const MERGES: [string, string][] = [
  ['a', 'b'],
  ['b', 'a'],
  ['ab', 'ab'],
  ['a', 'a'],
  ['aa', 'aa'],
  ['\u0120', 'a'],
  // No token, and a pair whose parts come later.
  ['zz', 'q'],
  ['abab', 'aa'],
];
const MERGED = ['ab', 'ba', 'abab', 'aa', 'aaaa', '\u0120a', 'ababaa'];
const byteVocab = (first: number) =>
  Object.fromEntries([...BYTE_LETTERS, ...MERGED].map((token, index) => [token, first + index]));
const special = (id: number, content: string, more = {}) => ({ id, content, special: true, ...more });
const ADDED = [
  special(0, '<unk>'),
  special(1, '<s>'),
  special(2, '</s>'),
  { id: 3, content: '<tool>', special: false, lstrip: true, rstrip: true, single_word: false },
];
const fallback = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
const characters = [
  ...ADDED.map(({ content }) => content),
  ...fallback,
  '\u2581',
  'a',
  'b',
  'ab',
  '\u2581ab',
  's',
  '<',
  '>',
];
const steps = (patterns: string[]) => [
  ...patterns.map((Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })),
  { type: 'Digits', individual_digits: true },
  { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
];
const post = {
  type: 'Sequence',
  processors: [
    { type: 'TemplateProcessing', single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A' } }] },
  ],
};

const FILES = {
  bytes: {
    added_tokens: ADDED,
    normalizer: { type: 'NFC' },
    pre_tokenizer: { type: 'Sequence', pretokenizers: steps(['\\p{N}{1,3}']) },
    post_processor: post,
    decoder: { type: 'ByteLevel' },
    model: { type: 'BPE', vocab: byteVocab(4), merges: MERGES, ignore_merges: true, unk_token: null },
  },
  characters: {
    added_tokens: ADDED,
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: '\u2581' },
        { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
      ],
    },
    pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
    post_processor: post,
    decoder: {
      type: 'Sequence',
      decoders: [{ type: 'ByteFallback' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }],
    },
    model: {
      type: 'BPE',
      unk_token: '<unk>',
      fuse_unk: true,
      byte_fallback: true,
      vocab: Object.fromEntries(characters.map((token, id) => [token, id])),
      merges: ['a b', '\u2581 ab'],
    },
  },
  unigram: {
    added_tokens: ADDED,
    normalizer: { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
    pre_tokenizer: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always' },
    post_processor: null,
    decoder: { type: 'Metaspace', replacement: '\u2581' },
    model: {
      type: 'Unigram',
      unk_id: 0,
      vocab: characters.filter((text) => !text.startsWith('<0x')).map((text, index) => [text, -index / 2]),
    },
  },
  wordpiece: {
    added_tokens: [special(0, '[UNK]'), special(1, '[CLS]')],
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: { type: 'TemplateProcessing', single: [{ SpecialToken: { id: '[CLS]' } }] },
    decoder: { type: 'WordPiece', prefix: '##' },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: { '[UNK]': 0, '[CLS]': 1, a: 2, ab: 3, '##b': 4, '##a': 5, '##ab': 6, hello: 7 },
    },
  },
  demo: tokenizerFile(
    byteVocab(CONTROL_TOKENS.length),
    [
      ['a', 'b'],
      ['ab', 'ab'],
    ],
    CONTROL_TOKENS.map((token, id) => addedToken(id, token, true)),
  ),
} as const;

export type JsonKind = keyof typeof FILES;
export const JSON_KINDS = Object.keys(FILES) as JsonKind[];

/** The text of a damaged tokenizer.json. */
export function damagedTokenizer(kind: JsonKind, random: Random): string {
  const file = structuredClone(FILES[kind]) as unknown as Record<string, unknown>;
  if (random.chance(0.85)) damageValue(file, random);
  const text = jsonText(file);
  return random.chance(0.2) ? damageText(text, random, ['1e999', '-1', '""', '[]', '"__proto__":1,']) : text;
}

/** A sound one, for folders whose other files are damaged. */
export const SOUND_TOKENIZER = JSON.stringify({ ...FILES.bytes, added_tokens: ADDED });

const GGUF: Readonly<Record<'gpt2' | 'llama', Readonly<Record<string, GgufWritable>>>> = {
  gpt2: {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'llama-bpe',
    'tokenizer.ggml.tokens': { strings: ['<unk>', '<s>', '</s>', ...BYTE_LETTERS, ...MERGED] },
    'tokenizer.ggml.token_type': { i32s: [2, 3, 3, ...[...BYTE_LETTERS, ...MERGED].map(() => 1)] },
    'tokenizer.ggml.merges': { strings: MERGES.map((pair) => pair.join(' ')) },
    'tokenizer.ggml.bos_token_id': { u32: 1 },
    'tokenizer.ggml.eos_token_id': { u32: 2 },
    'tokenizer.ggml.add_bos_token': true,
  },
  llama: Object.fromEntries([...spmMetadata(true)].map(([key, value]) => [key, writable(value)])),
};

function writable(value: unknown): GgufWritable {
  if (typeof value === 'number') return { u32: value };
  if (value instanceof Float32Array) return { f32s: [...value] };
  if (value instanceof Int32Array) return { i32s: [...value] };
  return Array.isArray(value) ? { strings: value as string[] } : (value as string | boolean);
}

export type GgufKind = keyof typeof GGUF;

const NAMES = ['', 'gpt2', 'llama', 'qwen2', 'gpt-2', '__proto__', 'nonsense'];
const TOKENS = ['', ' ', 'a', 'ab', '<s>', '\ud800', '\u2581', '<0xFF>', 'a b', 'x'.repeat(2000), 'a'.repeat(300)];
const SCORES = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0, 1e38];

/** The bytes of a GGUF file whose metadata is damaged as such, as bytes, or both. */
export function damagedGguf(kind: GgufKind, random: Random): Buffer {
  const metadata: Record<string, GgufWritable> = { ...GGUF[kind] };
  const keys = Object.keys(metadata);
  for (let left = random.below(4); left > 0; left--) {
    const key = random.pick(keys);
    const value = metadata[key];
    const change = random.below(10);
    if (change === 0 || value === undefined) delete metadata[key];
    else if (change === 1) metadata[key] = GGUF[kind][random.pick(keys)]!;
    else if (typeof value === 'string') metadata[key] = random.pick(NAMES);
    else if (typeof value === 'boolean') metadata[key] = !value;
    else if ('u32' in value) metadata[key] = { u32: random.pick([0, 1, 2, 300, 2 ** 21, 2 ** 24, 2 ** 32 - 1]) };
    else if ('strings' in value) metadata[key] = { strings: changed(value.strings, TOKENS, random) };
    else if ('i32s' in value)
      metadata[key] = { i32s: changed(value.i32s, [0, 1, 2, 3, 4, 5, 6, -1, 2 ** 31 - 1], random) };
    else if ('f32s' in value) metadata[key] = { f32s: changed(value.f32s, SCORES, random) };
  }
  const bytes = writeGguf({ metadata });
  return random.chance(0.5) ? damageBytes(bytes, random) : bytes;
}

function changed<T>(items: readonly T[], odd: readonly T[], random: Random): T[] {
  const out = [...items];
  for (let left = 1 + random.below(20); left > 0; left--) out[random.below(out.length)] = random.pick(odd);
  // Lists that belong together are of different lengths then.
  return random.chance(0.1) ? out.slice(0, random.below(out.length)) : out;
}

const TEMPLATES = [
  `{%- macro say(text, times=2) %}{%- for i in range(times) %}{{ text }}{%- endfor %}{%- endmacro %}{%- set ns = namespace(last='') %}{%- for message in messages %}{{- '<s>' ~ message.role ~ '\\n' ~ message.content | trim }}{%- if message.role == 'user' and not loop.first %}{{ say('x') }}{%- endif %}{%- set ns.last = message.role %}{%- endfor %}{%- if add_generation_prompt %}{{- '<tool>' }}{%- endif %}`,
  `{{ bos_token }}{% if tools %}{{ tools | tojson(indent=2) }}{% for tool in tools %}{{ tool.function.name | upper }}{% endfor %}{% endif %}{% for m in messages if m.role != 'system' %}{{ m['content'].split(' ')[-1] | replace('a', 'b') | indent(2) }}{{ eos_token if loop.last else '' }}{% endfor %}`,
] as const;

/** What would run for ever, or take all memory. */
export const TEMPLATE_BOMBS = [
  '{% for i in range(999999999) %}{% endfor %}',
  '{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}',
  '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(99) }}',
  "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}",
  '{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x }}',
  '{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson }}',
  `{{ ${'('.repeat(3000)}1${')'.repeat(3000)} }}`,
  ' '.repeat(60_000),
  '{{ 9 ** 9 ** 9 }}',
] as const;
const TEMPLATE_BITS = [
  '{{ messages[0] }}',
  '{% else %}',
  '{% endfor %}',
  '{%',
  '}}',
  '{#',
  ' | tojson',
  ' | list',
  ' | sort',
  '[-1]',
  '[::-1]',
  '.items()',
  "{{ '",
  '{% break %}',
  '{{ undefined_name.x }}',
  '{% generation %}',
  "{{ strftime_now('%d %b %Y') }}",
  '{{ raise_exception(messages) }}',
  '{{ range(5, 0, -1) }}',
] as const;

const CONFIG = {
  bos_token: { content: '<s>' },
  eos_token: '</s>',
  add_bos_token: true,
  chat_template: [{ name: 'default', template: TEMPLATES[0] }],
};

function damagedTemplate(sound: string, random: Random): string {
  const way = random.below(100);
  if (way < 20) return sound;
  if (way < 22) return sound + random.pick(TEMPLATE_BOMBS);
  if (way < 50) return damageText(sound, random, TEMPLATE_BITS);
  // Between two blocks or in front of the end of one, where it may well compile.
  const places = [...sound.matchAll(/\{[{%]|-?[}%]\}/g)].map(({ index }) => index);
  const at = random.pick(places);
  return sound.slice(0, at) + random.pick(TEMPLATE_BITS) + sound.slice(at);
}

/** Files of a folder beside a sound tokenizer.json. */
export function damagedFolder(random: Random): Record<string, string> {
  const config = structuredClone(CONFIG) as Record<string, unknown>;
  const generation: Record<string, unknown> = { eos_token_id: [2, 3] };
  if (random.chance(0.3)) damageValue(config, random);
  if (random.chance(0.3)) damageValue(generation, random);
  const template = damagedTemplate(random.pick(TEMPLATES), random);
  const text = (value: unknown) => (random.chance(0.1) ? damageText(jsonText(value), random) : jsonText(value));
  return {
    'tokenizer_config.json': text(config),
    'generation_config.json': text(generation),
    // An empty file is a template too.
    'chat_template.jinja': random.chance(0.02) ? '' : template,
  };
}
