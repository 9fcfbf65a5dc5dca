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

function* percentForms(value: string): Generator<string> {
  for (const others of KEPT_IN_URLS) {
    const lower = value.replace(others, (char) => `%${HEX[char.charCodeAt(0)]!}`);
    if (lower === value) continue;
    yield lower;
    yield lower.replace(/%../g, (code) => code.toUpperCase());
    if (value.includes(' ')) yield lower.replaceAll('%20', '+').replace(/%../g, (code) => code.toUpperCase());
  }
}
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** What a run of base64 shows of the value wherever in the run it stands: three alignments, without the characters it shares. */
function* base64Forms(bytes: Buffer): Generator<string> {
  for (let before = 0; before < 3; before++) {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const standard = whole.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
    yield standard;
    yield standard.replaceAll('+', '-').replaceAll('/', '_');
  }
}

/**
 * Every spelling of `value` besides itself, for one that is long enough to be told from chance. Not those in which all characters are
 * codes: such are read first (codes.ts).
 */
export function spellingsOf(value: string): Spelling[] {
  const bytes = Buffer.from(value, 'latin1');
  const plain = new Set([...jsonForms(value, bytes.toString('utf8')), ...percentForms(value)]);
  plain.delete(value);
  const other = new Set(base64Forms(bytes));
  if (value.length <= LONG) {
    const pairs = bytes.toString('hex');
    other.add(pairs).add(pairs.toUpperCase());
  }
  return [...[...plain].map((text) => ({ text, plain: true })), ...[...other].map((text) => ({ text, plain: false }))];
}
