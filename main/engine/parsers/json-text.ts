/** JSON as text: where a value ends, and a member exactly as it was written. */

/** Follows a JSON object over text that arrives in pieces. Only brackets and strings are told apart. */
export class JsonScan {
  #at: number;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** `start`: where the object's `{` stands. */
  constructor(start: number) {
    this.#at = start;
  }

  /** Position behind the object, or -1 while it is open. `text` only grows between calls. */
  end(text: string): number {
    for (; this.#at < text.length; this.#at++) {
      const unit = text.charCodeAt(this.#at);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (unit === BACKSLASH) this.#escaped = true;
        else if (unit === QUOTE) this.#inString = false;
      } else if (unit === QUOTE) this.#inString = true;
      else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) this.#depth++;
      else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#depth <= 0) {
          this.#at++;
          return this.#at;
        }
      }
    }
    return -1;
  }

  /** Whether the text so far ends inside a string. */
  get inString(): boolean {
    return this.#inString;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The parsed object, or null when the text is no JSON object. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text of a member of a valid JSON object, as written; the last one where the key stands twice. Null when absent. */
export function memberText(object: string, key: string): string | null {
  let found: string | null = null;
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;
  let depth = 0;
  let name: string | null = null;
  let last: string | null = null;
  let start = -1;
  for (let match = token.exec(object); match; match = token.exec(object)) {
    const [part] = match;
    if (part === '{' || part === '[') depth++;
    else if (part === '}' || part === ']') depth--;
    const closes = depth === 0 || (depth === 1 && part === ',');
    if (closes && start >= 0) {
      if (name === key) found = object.slice(start, match.index).trim();
      start = -1;
    } else if (depth === 1 && part === ':' && start < 0) {
      name = last === null ? null : (JSON.parse(last) as string);
      start = match.index + 1;
    }
    last = part.startsWith('"') ? part : null;
  }
  return found;
}
