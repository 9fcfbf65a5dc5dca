/**
 * The spellings in which one value may stand in a text. All are strings of bytes (latin1), as the text is searched; the value's
 * own bytes are most often UTF-8.
 */

export interface Spelling {
  text: string;
  /** Letters of the value are letters here: what stands beside it decides whether it is a word of its own. */
  plain: boolean;
}

/** JSON within JSON within JSON. */
const DEPTH = 3;
/** Of longer values no spelling is looked for that makes several bytes of each. */
const LONG = 2_000;

/** The content of a string in JSON; bytes above 127 stay. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const unicodeEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Up to three times, with what some printers of JSON escape besides. */
function* jsonForms(value: string, unicode: string): Generator<string> {
  const once = new Set([inJson(value)]);
  if (value.includes('/')) once.add(inJson(value).replaceAll('/', '\\/'));
  if (/[<>&']/.test(value)) once.add(inJson(value).replace(/[<>&']/g, unicodeEscape));
  if (/[^ -~]/.test(unicode)) {
    const ascii = inJson(unicode).replace(/[^ -~]/g, unicodeEscape);
    once.add(ascii).add(ascii.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`));
  }
  for (const first of once) {
    let text = first;
    for (let depth = 1; depth <= DEPTH; depth++) {
      yield text;
      text = inJson(text);
    }
  }
}

/** What different programs leave as it is in a URL. */
const KEPT_IN_URLS = [/[^A-Za-z0-9_.!~*'()-]/g, /[^A-Za-z0-9_.~-]/g, /[^A-Za-z0-9_.!~*'()/:@-]/g];

function* percentForms(value: string, bytes: Buffer | null): Generator<string> {
  if (bytes) {
    yield coded(bytes, PERCENT.small);
    yield coded(bytes, PERCENT.capital);
  }
  for (const others of KEPT_IN_URLS) {
    const lower = value.replace(others, (char) => PERCENT.small[char.charCodeAt(0)]!);
    if (lower === value) continue;
    yield lower;
    yield lower.replace(/%../g, (code) => code.toUpperCase());
    if (value.includes(' ')) yield lower.replaceAll('%20', '+').replace(/%../g, (code) => code.toUpperCase());
  }
}

/** What a run of base64 shows of the value wherever in the run it stands: three alignments, without the characters it shares. */
function* base64Forms(bytes: Buffer): Generator<string> {
  for (let before = 0; before < 3; before++) {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const standard = whole.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
    yield standard;
    yield standard.replaceAll('+', '-').replaceAll('/', '_');
  }
}

/** Byte -> how it is written as a code, small and capital. */
const codes = (before: string, digits: number): { small: string[]; capital: string[] } => {
  const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(digits, '0'));
  return { small: hex.map((one) => before + one), capital: hex.map((one) => before + one.toUpperCase()) };
};
const HEX = codes('', 2);
const PERCENT = codes('%', 2);
const BACKSLASH_X = codes('\\x', 2);
/** By how many backslashes stand before it. */
const BACKSLASH_U = Array.from({ length: DEPTH }, (_, depth) => codes(`${'\\'.repeat(2 ** depth)}u`, 4));

/** `first` bytes of the first code are left out. */
function coded(bytes: Uint8Array, by: readonly string[], first = 0): string {
  let out = '';
  for (let i = 0; i < bytes.length; i++) out += by[bytes[i]!]!;
  return first === 0 ? out : out.slice(first);
}

/** Every character as a code; the backslashes before the first are left out. */
function* codeForms(unicode: string, bytes: Buffer): Generator<string> {
  yield coded(bytes, HEX.small);
  yield coded(bytes, HEX.capital);
  // Text in ASCII, or bytes that are no UTF-8.
  const isPlain = unicode.length === bytes.length;
  for (let depth = 0; depth < DEPTH; depth++) {
    const backslashes = 2 ** depth;
    const { small, capital } = BACKSLASH_U[depth]!;
    if (isPlain) {
      yield coded(bytes, small, backslashes);
      yield coded(bytes, capital, backslashes);
      continue;
    }
    const units = Array.from({ length: unicode.length }, (_, i) => unicode.charCodeAt(i).toString(16).padStart(4, '0'));
    const before = `${'\\'.repeat(backslashes)}u`;
    yield units
      .map((unit) => before + unit)
      .join('')
      .slice(backslashes);
    yield units
      .map((unit) => before + unit.toUpperCase())
      .join('')
      .slice(backslashes);
  }
  yield coded(bytes, BACKSLASH_X.small, 1);
}

/** Every spelling of `value` besides itself, for one that is long enough to be told from chance. */
export function spellingsOf(value: string): Spelling[] {
  const bytes = Buffer.from(value, 'latin1');
  const unicode = bytes.toString('utf8');
  const short = value.length <= LONG ? bytes : null;
  const plain = new Set([...jsonForms(value, unicode), ...percentForms(value, short)]);
  plain.delete(value);
  plain.delete('');
  const other = new Set(base64Forms(bytes));
  if (short) for (const form of codeForms(unicode, short)) other.add(form);
  return [...[...plain].map((text) => ({ text, plain: true })), ...[...other].map((text) => ({ text, plain: false }))];
}
