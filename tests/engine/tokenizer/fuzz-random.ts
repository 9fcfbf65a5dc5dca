/** Seeded damage for JSON values, texts and bytes. The same numbers give the same input on every machine. */

export class Random {
  #state: number;
  constructor(seed: number, input: number) {
    this.#state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(input + 1, 0xc2b2ae35)) | 0;
  }

  /** A whole number below `end` (Tommy Ettinger's Mulberry32). */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  chance(share: number): boolean {
    return this.below(1_000_000) < share * 1_000_000;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

/** Stand for what JSON.stringify cannot write. */
const INFINITE = '\u0001infinite';
const DEEP = '\u0001deep:';

/** Expressions that do not compile, backtrack without end, or match nothing. */
export const PATTERNS = [
  '(a+)+$',
  '(?:a|a)*b',
  '([a-z]*)*x',
  '\\s+\\s+\\s+\\s+x',
  '(.*)*(.*)*b',
  '[',
  '(',
  '(?<=a',
  '\\',
  'a{99999999}',
  '',
  '(?:)*',
  '\\p{Nonsense}+',
  '[[a]&&[b]]',
  '(?=a*)+',
  '\\p{L}+|\\s+',
];
const TEXTS = [
  '',
  ' ',
  'a',
  '\ud800',
  '\udc00x',
  '__proto__',
  'constructor',
  'toString',
  '\u0000',
  '\u2581',
  '$&',
  "$`$'",
  'a b',
  '<unk>',
  '<0xFF>',
  '\u0120',
  'x'.repeat(5000),
  'a'.repeat(40_000),
];
const NUMBERS = [
  0,
  -1,
  1,
  0.5,
  255,
  65_535,
  65_536,
  2 ** 21,
  2 ** 24 - 1,
  2 ** 24,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53,
  1e308,
  -0,
];
const TYPES = [
  'BPE',
  'Unigram',
  'WordPiece',
  'WordLevel',
  'Sequence',
  'Split',
  'Replace',
  'Prepend',
  'Metaspace',
  'FixedLength',
  'ByteLevel',
  'Digits',
  'Punctuation',
  'Whitespace',
  'BertNormalizer',
  'NFKC',
  'Precompiled',
  'Strip',
  'TemplateProcessing',
  'nonsense',
];

function oddValue(random: Random): unknown {
  switch (random.below(9)) {
    case 0:
      return random.pick(TEXTS);
    case 1:
      return random.pick(NUMBERS);
    case 2:
      return random.pick([null, true, false, [], {}, INFINITE]);
    case 3:
      return DEEP + random.pick(['normalizers', 'pretokenizers', 'processors', 'decoders', '']);
    case 4:
      return { String: random.pick(TEXTS) };
    case 5:
      return { Regex: random.pick(PATTERNS) };
    case 6:
      return {
        type: 'Split',
        pattern: { Regex: random.pick(PATTERNS) },
        behavior: 'Isolated',
        invert: random.chance(0.3),
      };
    case 7:
      return random.pick(TYPES);
    default:
      return {
        type: random.pick(TYPES),
        content: random.pick(TEXTS),
        pattern: { String: random.pick(TEXTS) },
        length: random.pick(NUMBERS),
        prepend: random.pick(TEXTS),
      };
  }
}

type Container = Record<string | number, unknown>;

/** Some place in a value, the upper ones more often. */
function place(root: Container, random: Random): { container: Container; key: string } | null {
  let container = root;
  for (;;) {
    const keys = Object.keys(container);
    if (keys.length === 0) return null;
    const key = random.pick(keys);
    const child = container[key];
    if (typeof child !== 'object' || child === null || Object.keys(child).length === 0 || random.chance(0.25))
      return { container, key };
    container = child as Container;
  }
}

/** Deletes, retypes, copies and inserts in place. */
export function damageValue(root: Container, random: Random): void {
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = place(root, random);
    if (at) damagePlace(root, at, random);
  }
}

function damagePlace(root: Container, { container, key }: { container: Container; key: string }, random: Random): void {
  const value = container[key];
  switch (random.below(6)) {
    case 0:
      if (Array.isArray(container)) container.splice(Number(key), 1);
      else delete container[key];
      break;
    case 1: {
      const other = place(root, random);
      if (other) container[key] = structuredClone(other.container[other.key]);
      break;
    }
    case 2:
      if (Array.isArray(container)) container.push(oddValue(random));
      else define(container, random.pick(TEXTS), random.chance(0.5) ? structuredClone(value) : oddValue(random));
      break;
    case 3:
      if (typeof value === 'number') container[key] = random.pick(NUMBERS);
      else container[key] = typeof value === 'string' ? random.pick(TEXTS) : oddValue(random);
      break;
    default:
      container[key] = oddValue(random);
  }
}

/** An own property, `__proto__` too, as JSON.parse makes it. */
function define(target: Container, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

export function jsonText(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(JSON.stringify(INFINITE), '1e999')
    .replace(/"\\u0001deep:([a-z]*)"/g, (_all, key: string) =>
      key === ''
        ? '['.repeat(5000) + ']'.repeat(5000)
        : `{"type":"Sequence","${key}":[`.repeat(1000) + ']}'.repeat(1000),
    );
}

export function damageText(text: string, random: Random, snippets: readonly string[] = []): string {
  let out = text;
  for (let left = 1 + random.below(4); left > 0; left--) {
    const from = random.below(out.length + 1);
    const to = Math.min(out.length, from + random.below(8));
    const insert = random.pick([
      '',
      String.fromCharCode(random.below(random.chance(0.8) ? 128 : 65_536)),
      out.slice(to, to + random.below(40)),
      ...(snippets.length > 0 ? [random.pick(snippets)] : []),
    ]);
    out = out.slice(0, from) + insert + out.slice(random.chance(0.5) ? from : to);
  }
  return out;
}

const COUNTS = [0n, 1n, 2n ** 31n, 2n ** 40n, 2n ** 53n, 2n ** 64n - 1n];

export function damageBytes(bytes: Buffer, random: Random): Buffer {
  const out = Buffer.from(bytes);
  for (let left = 1 + random.below(6); left > 0; left--) {
    const at = random.below(out.length);
    if (random.chance(0.5)) out[at] = random.below(256);
    else if (at + 8 <= out.length) out.writeBigUInt64LE(random.pick(COUNTS), at);
  }
  return random.chance(0.1) ? out.subarray(0, random.below(out.length)) : out;
}
