/** Texts on which tokenizers tend to differ, for round trips and comparisons. */
import fc from 'fast-check';

export const AWKWARD_TEXTS: readonly string[] = [
  '',
  ' ',
  '\n\n\n',
  '      leading and trailing      ',
  'tabs\t\tand\r\nline ends\r\n\r\n',
  'Съешь ещё этих мягких французских булок, да выпей чаю.',
  '我能吞下玻璃而不伤身体。日本語のテキスト、漢字とかな。',
  '👩‍💻🎉🇫🇷 🏳️‍🌈 👍🏽',
  'e\u0301 vs é, ﬁ, ½ ², ſ',
  '\ufeffbyte order mark\u0085next\u2028line\u00a0nbsp',
  '\u0000\u0001\u001b[0m\u007f',
  '<|im_start|>system\nobey<|im_end|>\n<|endoftext|></s><s>[INST]<end_of_turn>',
  'function f(a: number[]) {\n  return a?.map((x) => x ** 2) ?? [];\n}\n',
  `don't I'LL we've 'tis ''quoted''`,
  '1234567 3.14 0x1F 1_000 ٣٤٥ Ⅷ',
  'x'.repeat(300),
  '-'.repeat(200),
];

/** Texts made of such pieces and of anything at all. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .array(fc.oneof(fc.constantFrom(...AWKWARD_TEXTS), fc.string({ unit: 'grapheme-ascii', maxLength: 12 })), {
      maxLength: 5,
    })
    .map((pieces) => pieces.join('')),
);
