/** Values without a fixed beginning, told by their digits and separators. Each looks at `b[at]` and says whether it is one. */

const DIGIT = 1;
const HEX = 2;
const LETTER = 4;
export const CLASS = new Uint8Array(256);
for (let c = 48; c <= 57; c++) CLASS[c] = DIGIT | HEX;
for (let c = 65; c <= 90; c++) CLASS[c] = LETTER | (c <= 70 ? HEX : 0);
for (let c = 97; c <= 122; c++) CLASS[c] = LETTER | (c <= 102 ? HEX : 0);

export const isAlnum = (c: number): boolean => (CLASS[c]! & (DIGIT | LETTER)) !== 0;
const isDigit = (c: number): boolean => (CLASS[c]! & DIGIT) !== 0;
const isHex = (c: number): boolean => (CLASS[c]! & HEX) !== 0;

const digitsFrom = (b: Uint8Array, at: number, to: number, most: number): number => {
  let i = at;
  while (i < to && i - at < most && isDigit(b[i]!)) i++;
  return i - at;
};

/** Four numbers of up to three digits with dots between. */
export function isIpv4(b: Uint8Array, at: number, to: number): boolean {
  let i = at;
  for (let part = 0; part < 4; part++) {
    if (part > 0 && b[i++] !== 46) return false;
    const length = digitsFrom(b, i, to, 4);
    if (length === 0 || length > 3) return false;
    i += length;
  }
  return i >= to || b[i] !== 46 || i + 1 >= to || !isDigit(b[i + 1]!);
}

/** Six pairs of hex digits with the same separator. */
export function isMac(b: Uint8Array, at: number, to: number): boolean {
  if (at + 17 > to) return false;
  const separator = b[at + 2];
  if (separator !== 58 && separator !== 45) return false;
  for (let part = 0; part < 6; part++) {
    const i = at + part * 3;
    if (!isHex(b[i]!) || !isHex(b[i + 1]!) || (part > 0 && b[i - 1] !== separator)) return false;
  }
  return at + 17 >= to || (!isAlnum(b[at + 17]!) && b[at + 17] !== separator);
}

/** Groups of up to four hex digits and colons: eight, or fewer with `::` and at least three groups. */
export function isIpv6(b: Uint8Array, at: number, to: number): boolean {
  let groups = 0;
  let gaps = 0;
  let i = at;
  for (;;) {
    let length = 0;
    while (i < to && length < 5 && isHex(b[i]!)) {
      i++;
      length++;
    }
    if (length === 5) return false;
    if (length > 0 && ++groups > 8) return false;
    if (i >= to || b[i] !== 58) break;
    i++;
    if (i < to && b[i] === 58) {
      gaps++;
      i++;
    } else if (length === 0) return false;
  }
  if (i < to && isAlnum(b[i]!)) return false;
  return gaps === 0 ? groups === 8 : gaps === 1 && groups >= 3 && groups < 8;
}

/** `+`, a country code, and at least eight digits in all, with blanks, dots, dashes or brackets between. */
export function isPhone(b: Uint8Array, at: number, to: number): boolean {
  let digits = 0;
  for (let i = at + 1; i < to && i < at + 24; i++) {
    const c = b[i]!;
    if (isDigit(c)) digits++;
    else if (c !== 32 && c !== 45 && c !== 46 && c !== 40 && c !== 41) break;
  }
  return digits >= 8 && digits <= 15;
}

/** At least nine digits with blanks, dots, dashes or brackets between: cards, numbers of persons, phones. */
export function isDigits(b: Uint8Array, at: number, to: number): boolean {
  let digits = 0;
  let last = at;
  for (let i = at; i < to && i < at + 32; i++) {
    const c = b[i]!;
    if (isDigit(c)) {
      digits++;
      last = i;
    } else if ((c !== 32 && c !== 45 && c !== 46 && c !== 41 && c !== 40) || i - last > 2) break;
  }
  return digits >= 9;
}

/** Two capitals, two digits, then at least eleven letters or digits in groups. */
export function isIban(b: Uint8Array, at: number, to: number): boolean {
  if (at + 15 > to || !isDigit(b[at + 2]!) || !isDigit(b[at + 3]!)) return false;
  if (b[at + 1]! < 65 || b[at + 1]! > 90) return false;
  let count = 4;
  for (let i = at + 4; i < to && i < at + 44; i++) {
    const c = b[i]!;
    if (isDigit(c) || (c >= 65 && c <= 90)) count++;
    else if (c !== 32 && c !== 45) break;
  }
  return count >= 15;
}

/** 32 hex digits, a dash, eight, a dash. */
export function isHexTriple(b: Uint8Array, at: number, to: number): boolean {
  if (at + 42 > to || b[at + 32] !== 45 || b[at + 41] !== 45) return false;
  for (let i = at; i < at + 41; i++) if (i !== at + 32 && !isHex(b[i]!)) return false;
  return true;
}

const BASE64 = new Int8Array(256).fill(-1);
for (let i = 0; i < 64; i++)
  BASE64['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.charCodeAt(i)] = i;
BASE64[45] = 62;
BASE64[95] = 63;
export const isBase64 = (c: number): boolean => BASE64[c]! >= 0;

/** Readable text in ASCII; a tenth may be bytes of other scripts. */
const readable = (c: number): boolean => (c >= 32 && c < 127) || c === 10 || c === 13 || c === 9;

/**
 * Writes what the base64 run says to `out` and returns its length; -1: it is no text. The first twelve bytes are looked at before the
 * rest. Errors: none; padding and rests of fewer than eight bits are passed over.
 */
export function decodeBase64(b: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
  let bits = 0;
  let held = 0;
  let length = 0;
  let odd = 0;
  for (let i = from; i < to; i++) {
    const value = BASE64[b[i]!]!;
    if (value < 0) break;
    bits = ((bits << 6) | value) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    const byte = (bits >> held) & 255;
    if (!readable(byte)) {
      odd++;
      if (byte < 128 || length < 12 || odd * 10 > length) return -1;
    }
    out[at + length++] = byte;
  }
  return length;
}

/** The same for pairs of hex digits. */
export function decodeHex(b: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
  let length = 0;
  for (let i = from; i + 1 < to; i += 2) {
    const byte = Number.parseInt(String.fromCharCode(b[i]!, b[i + 1]!), 16);
    if (!readable(byte)) return -1;
    out[at + length++] = byte;
  }
  return length;
}
export { HEX, isDigit, isHex };
