/** Finds the elements of an array in the bytes of a JSON text without parsing it. Whether the text is JSON at all says whoever parses it. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The place after the `[` of the array that is the member `name` of the outermost object; null: there is none. */
export function arrayMember(bytes: Buffer, name: string): number | null {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return null;
  const quoted = Buffer.from(`"${name}"`);
  do {
    const key = skipSpace(bytes, at + 1);
    if (bytes[key] !== QUOTE) return null;
    const end = skipString(bytes, key);
    const value = skipSpace(bytes, skipSpace(bytes, end) + 1);
    if (bytes[skipSpace(bytes, end)] !== COLON) return null;
    if (bytes[value] === OPEN_ARRAY && quoted.equals(bytes.subarray(key, end))) return value + 1;
    at = skipSpace(bytes, skipValue(bytes, value));
  } while (bytes[at] === COMMA);
  return null;
}

/**
 * Adds to `ends` where each further element ends (one past its last byte) and returns the place of the closing `]`. `from`: the place
 * after the `[`, or, when `ends` has some, the end of the last. Null: an element is no object, or the text ends before.
 */
export function objectElements(bytes: Buffer, from: number, ends: number[]): number | null {
  let at = skipSpace(bytes, from);
  if (ends.length === 0 && bytes[at] !== CLOSE_ARRAY) at = skipElement(bytes, at, ends);
  while (bytes[at] === COMMA) at = skipElement(bytes, skipSpace(bytes, at + 1), ends);
  return bytes[at] === CLOSE_ARRAY ? at : null;
}

/** The place after the element and its space; the end of the text for what is no object. */
function skipElement(bytes: Buffer, at: number, ends: number[]): number {
  // The end of a number would depend on what follows.
  if (bytes[at] !== OPEN_OBJECT) return bytes.length;
  const end = skipValue(bytes, at);
  ends.push(end);
  return skipSpace(bytes, end);
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** `from`: the opening quote. */
function skipString(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at + 1;
  }
  return bytes.length;
}

function skipValue(bytes: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) at = skipString(bytes, at);
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)) return at;
    else {
      at++;
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
      else continue;
    }
    // A container or a string has ended; words and numbers end with what follows.
    if (depth === 0) return at;
  }
  return at;
}
