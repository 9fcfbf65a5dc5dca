/** Decoded strings that remember where each character came from, so that findings splice back into the original text. */

/** `text` is decoded; `map[i]` is the offset of its i-th character in the raw text, `map[length]` the end. */
export interface View {
  text: string;
  /** null: the raw text itself, shifted by `offset`. */
  map: Int32Array | null;
  offset: number;
}
export interface Leaf {
  view: View;
  /** The nearest JSON key before it, '' when there is none. */
  key: string;
}

const MAX_DEPTH = 4;
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

export function rawView(text: string): View {
  return { text, map: null, offset: 0 };
}

export function rawAt(view: View, index: number): number {
  return view.map ? view.map[index]! : view.offset + index;
}

/** Every innermost string of `view`: of JSON, of JSON inside JSON strings (four levels), else the text itself. */
export function leavesOf(view: View, key = '', depth = 0): Leaf[] {
  if (depth > MAX_DEPTH || !isJson(view.text, depth)) return [{ view, key }];
  const out: Leaf[] = [];
  let current = key;
  const { text } = view;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = closingQuote(text, at);
    const inner = decodeString(view, at + 1, end);
    at = end + 1;
    const isKey = /^\s{0,1000}:/.test(text.slice(at, at + 1001));
    out.push(...leavesOf(inner, isKey ? '' : current, depth + 1));
    if (isKey) current = inner.text.slice(0, 200);
  }
  return out;
}

/** Objects and arrays at any level; a plain JSON string only when it is itself a string in a string. */
function isJson(text: string, depth: number): boolean {
  const first = /^\s{0,100}([{["])/.exec(text.slice(0, 101))?.[1];
  if (!first || (depth > 0 && text.length < 2)) return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' || (typeof value === 'object' && value !== null);
  } catch {
    return false;
  }
}

function closingQuote(text: string, open: number): number {
  let at = open + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\' && quote - 1 - slashes > open) slashes++;
    if (slashes % 2 === 0) return quote;
    at = quote + 1;
  }
}

function decodeString(view: View, start: number, end: number): View {
  const body = view.text.slice(start, end);
  if (!body.includes('\\'))
    return view.map
      ? { text: body, map: view.map.subarray(start, end + 1), offset: 0 }
      : { text: body, map: null, offset: view.offset + start };
  const map = new Int32Array(body.length + 1);
  const parts: string[] = [];
  let length = 0;
  for (let i = 0; i < body.length; ) {
    map[length++] = rawAt(view, start + i);
    if (body[i] !== '\\') parts.push(body[i++]!);
    else if (body[i + 1] === 'u') {
      parts.push(String.fromCharCode(Number.parseInt(body.slice(i + 2, i + 6), 16)));
      i += 6;
    } else {
      parts.push(ESCAPES[body[i + 1]!] ?? body[i + 1]!);
      i += 2;
    }
  }
  map[length] = rawAt(view, end);
  return { text: parts.join(''), map: map.subarray(0, length + 1), offset: 0 };
}

/** The same text with `%XX` decoded, or null when there is none. */
export function percentView(view: View): View | null {
  const { text } = view;
  if (!/%[0-9A-Fa-f]{2}/.test(text)) return null;
  const map = new Int32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  for (let i = 0; i < text.length; ) {
    map[length++] = rawAt(view, i);
    const code = text[i] === '%' ? /^[0-9A-Fa-f]{2}/.exec(text.slice(i + 1, i + 3))?.[0] : undefined;
    parts.push(code ? String.fromCharCode(Number.parseInt(code, 16)) : text[i]!);
    i += code ? 3 : 1;
  }
  map[length] = rawAt(view, text.length);
  return { text: parts.join(''), map: map.subarray(0, length + 1), offset: 0 };
}
