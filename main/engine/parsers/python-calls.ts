/**
 * Call lists in Python's syntax, `[f(a="b", n=1), g()]`, as JSON (Python language reference, section 2.4 for literals).
 * Values: strings, numbers, True/False/None, lists, tuples, dicts. A line break inside quotes is taken as it stands,
 * because models write it so.
 */
import type { ToolDefinition } from '../protocol.js';
import type { ParsedCall } from './answer-parser.js';
import { isObject } from './json-text.js';

const NAME = /[\p{L}_][\p{L}\p{N}_.-]*/uy;
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const MAX_DEPTH = 64;
const WORDS: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  true: 'true',
  false: 'false',
  null: 'null',
};
const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** `open`: the text ended inside a string, so more text might complete it. */
export type PythonCalls = ParsedCall[] | 'open' | 'malformed';

/** Reads the whole text as a list of calls (or one call without brackets). Never throws. */
export function pythonCalls(text: string, tools: readonly ToolDefinition[]): PythonCalls {
  try {
    return new Reader(text, tools).calls();
  } catch (error) {
    if (error instanceof Stop) return error.open ? 'open' : 'malformed';
    throw error;
  }
}

class Stop extends Error {
  constructor(readonly open: boolean) {
    super('not a call list');
  }
}

class Reader {
  #at = 0;
  constructor(
    private readonly text: string,
    private readonly tools: readonly ToolDefinition[],
  ) {}

  calls(): ParsedCall[] {
    const list = this.#accept('[');
    const calls = [this.#call()];
    while (this.#accept(',')) {
      if (list && this.#peek() === ']') break;
      calls.push(this.#call());
    }
    if (list) this.#expect(']');
    if (this.#peek() !== '') throw new Stop(false);
    return calls;
  }

  #call(): ParsedCall {
    const name = this.#match(NAME);
    this.#expect('(');
    const members = new Map<string, string>();
    let position = 0;
    while (this.#peek() !== ')') {
      const key = this.#keyword() ?? this.#positional(name, position++);
      if (members.has(key)) throw new Stop(false);
      members.set(key, this.#value(0));
      if (!this.#accept(',')) break;
    }
    this.#expect(')');
    return { name, arguments: objectText(members) };
  }

  #keyword(): string | null {
    const before = this.#at;
    this.#space();
    NAME.lastIndex = this.#at;
    const name = NAME.exec(this.text)?.[0];
    if (name !== undefined) {
      this.#at += name.length;
      if (this.#accept('=')) return name;
    }
    this.#at = before;
    return null;
  }

  /** Name of the parameter at a position, by the tool's schema. */
  #positional(tool: string, position: number): string {
    const parameters = this.tools.find((known) => known.function.name === tool)?.function.parameters;
    const properties =
      isObject(parameters) && isObject(parameters.properties) ? Object.keys(parameters.properties) : [];
    const key = properties[position];
    if (key === undefined) throw new Stop(false);
    return key;
  }

  /** JSON text of the value that comes next. */
  #value(depth: number): string {
    if (depth > MAX_DEPTH) throw new Stop(false);
    const next = this.#peek();
    if (next === '"' || next === "'") return JSON.stringify(this.#strings());
    if (next === '[') return `[${this.#items(']', depth).join(', ')}]`;
    if (next === '(') return this.#tuple(depth);
    if (next === '{') return this.#dict(depth);
    NUMBER.lastIndex = this.#at;
    const number = NUMBER.exec(this.text)?.[0];
    if (number !== undefined) {
      this.#at += number.length;
      return jsonNumber(number);
    }
    const word = this.#match(NAME);
    const quote = this.text[this.#at];
    if (/^[rRuU]$/.test(word) && (quote === '"' || quote === "'"))
      return JSON.stringify(this.#string(word.toLowerCase() === 'r'));
    if (!Object.hasOwn(WORDS, word)) throw new Stop(false);
    return WORDS[word]!;
  }

  #items(close: string, depth: number): string[] {
    this.#at++;
    const items: string[] = [];
    while (this.#peek() !== close) {
      items.push(this.#value(depth + 1));
      if (!this.#accept(',')) break;
    }
    this.#expect(close);
    return items;
  }

  /** Brackets around one value without a comma only group it. */
  #tuple(depth: number): string {
    const from = this.#at;
    const items = this.#items(')', depth);
    const grouped = items.length === 1 && !/,\s*\)$/.test(this.text.slice(from, this.#at));
    return grouped ? items[0]! : `[${items.join(', ')}]`;
  }

  #dict(depth: number): string {
    this.#at++;
    const members = new Map<string, string>();
    while (this.#peek() !== '}') {
      const key = this.#value(depth + 1);
      if (key.startsWith('[') || key.startsWith('{')) throw new Stop(false);
      this.#expect(':');
      members.set(key.startsWith('"') ? (JSON.parse(key) as string) : key, this.#value(depth + 1));
      if (!this.#accept(',')) break;
    }
    this.#expect('}');
    return objectText(members);
  }

  /** Strings that stand side by side are one. */
  #strings(): string {
    let out = '';
    for (let next = this.#peek(); next === '"' || next === "'"; next = this.#peek()) out += this.#string(false);
    return out;
  }

  #string(raw: boolean): string {
    const quote = this.text[this.#at]!;
    const close = this.text.startsWith(quote.repeat(3), this.#at) ? quote.repeat(3) : quote;
    this.#at += close.length;
    let out = '';
    for (;;) {
      if (this.#at >= this.text.length) throw new Stop(true);
      if (this.text.startsWith(close, this.#at)) break;
      if (this.text[this.#at] !== '\\') out += this.text[this.#at++];
      else if (raw) {
        out += this.text.slice(this.#at, this.#at + 2);
        this.#at += 2;
      } else out += this.#escape();
    }
    this.#at += close.length;
    return out;
  }

  #escape(): string {
    const letter = this.text[this.#at + 1];
    if (letter === undefined) throw new Stop(true);
    this.#at += 2;
    const simple = ESCAPES[letter];
    if (simple !== undefined && Object.hasOwn(ESCAPES, letter)) return simple;
    const digits = { x: 2, u: 4, U: 8 }[letter];
    if (digits !== undefined) {
      const hex = this.text.slice(this.#at, this.#at + digits);
      const point = /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits ? Number.parseInt(hex, 16) : -1;
      if (point < 0 || point > 0x10ffff) throw new Stop(this.#at + digits > this.text.length);
      this.#at += digits;
      return String.fromCodePoint(point);
    }
    const octal = /^[0-7]{1,3}/.exec(this.text.slice(this.#at - 1, this.#at + 2))?.[0];
    if (octal === undefined) return `\\${letter}`;
    this.#at += octal.length - 1;
    return String.fromCodePoint(Number.parseInt(octal, 8));
  }

  #space(): void {
    while (this.#at < this.text.length && this.text[this.#at]!.trim() === '') this.#at++;
  }

  /** The next character behind white space, '' at the end. */
  #peek(): string {
    this.#space();
    return this.text[this.#at] ?? '';
  }

  #accept(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#accept(character)) throw new Stop(false);
  }

  #match(pattern: RegExp): string {
    this.#space();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) throw new Stop(false);
    this.#at += found.length;
    return found;
  }
}

function objectText(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`;
}

/** Python allows `.5`, `5.`, `007` and `+1`; JSON does not. All digits are kept. */
function jsonNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^([+-]?)(\d*)(?:\.(\d*))?((?:[eE][+-]?\d+)?)$/.exec(text) ?? [];
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${text.includes('.') ? `.${fraction || '0'}` : ''}${exponent}`;
}
