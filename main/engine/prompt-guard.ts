/**
 * Keeps text that others wrote from becoming control tokens, without changing what a chat template makes of it.
 *
 * A template trims, splits and compares the texts it is given, so they cannot be wrapped. Instead a mark (a private-use
 * character that the conversation does not contain) goes into each control token that a text spells, behind its first
 * character; the template carries it along, and afterwards the marks come out again, leaving positions that no added
 * token may span. Texts that spell no control token are not touched at all. A text that begins with the end of a
 * control token, or ends with the beginning of one, is marked there, so that the template cannot complete it.
 */
import { AddedMatcher } from './tokenizer/added-matcher.js';

const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;

export interface GuardedText {
  text: string;
  /** For `EncodeOptions.breaks`. */
  breaks: number[];
}

export class PromptGuard {
  readonly #matcher: AddedMatcher;
  readonly #beginnings = new Set<string>();
  readonly #endings = new Set<string>();
  #longest = 0;

  constructor(protectedTexts: Iterable<string>) {
    const tokens = [...protectedTexts].map((content, id) => ({ id, content, control: true }));
    this.#matcher = new AddedMatcher(tokens);
    for (const { content } of tokens) {
      this.#longest = Math.max(this.#longest, content.length - 1);
      for (let n = 1; n < content.length; n++) {
        this.#beginnings.add(content.slice(0, n));
        this.#endings.add(content.slice(n));
      }
    }
  }

  /**
   * What `render` returns, with the marks taken out. `render` is given a function that marks every string and key in a
   * value; `source` is everything it will be used on.
   */
  render(source: unknown, render: (mark: <V>(value: V) => V) => string): GuardedText {
    const mark = unusedMark(JSON.stringify(source));
    return takeOut(
      render((value) => this.#markAll(value, mark)),
      mark,
    );
  }

  #markAll<V>(value: V, mark: string): V {
    if (typeof value === 'string') return this.#mark(value, mark) as V;
    if (Array.isArray(value)) return value.map((item) => this.#markAll(item, mark)) as V;
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => [this.#mark(key, mark), this.#markAll(item, mark)]);
    return Object.fromEntries(entries) as V;
  }

  #mark(text: string, mark: string): string {
    let out = '';
    let from = 0;
    for (const at of this.#matcher.starts(text)) {
      out += text.slice(from, at + 1) + mark;
      from = at + 1;
    }
    out += text.slice(from);
    for (let n = Math.min(this.#longest, text.length); n > 0; n--) {
      if (this.#endings.has(text.slice(0, n))) {
        out = mark + out;
        break;
      }
    }
    for (let n = Math.min(this.#longest, text.length); n > 0; n--) {
      if (this.#beginnings.has(text.slice(-n))) return out + mark;
    }
    return out;
  }
}

/** A private-use character that the text contains neither itself nor as a JSON escape. */
function unusedMark(json: string): string {
  const lower = json.toLowerCase();
  for (let unit = FIRST_MARK; unit <= LAST_MARK; unit++) {
    const mark = String.fromCharCode(unit);
    if (!json.includes(mark) && !lower.includes(`\\u${unit.toString(16)}`)) return mark;
  }
  // A text with all 6400 of them loses the last one.
  return String.fromCharCode(LAST_MARK);
}

/** Templates that write JSON in ASCII spell the mark as an escape. */
function takeOut(rendered: string, mark: string): GuardedText {
  const spelled = `\\\\u${mark.charCodeAt(0).toString(16)}`;
  const parts = rendered.split(new RegExp(`${mark}|${spelled}`, 'gi'));
  const breaks: number[] = [];
  let length = 0;
  for (const part of parts.slice(0, -1)) {
    length += part.length;
    if (breaks.at(-1) !== length) breaks.push(length);
  }
  return { text: parts.join(''), breaks };
}
