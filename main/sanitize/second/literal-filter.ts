/** Tells fast which rules a text could give anything to find: those of which a literal stands in it. */
import { scanAddon } from '../scan/create-scanner.js';
import { RULES, URL_LITERAL } from './secretlint-rules.js';

interface Literal {
  /** Which of the rules, as a bit. */
  rules: number;
  /** Letters in lower case where any case will do. */
  text: Buffer;
  anyCase: boolean;
  /** Where in the literal the bytes begin by which it is found. */
  offset: number;
}

/** Besides what the rules look for: spellings in which they would not know it. */
const HIDING = ['\\u00', ':\\/', '\\x2', '\\x3', '\\x4', '\\x5', '\\x6', '\\x7', '%3a', '%2f', '%40', '%20key'];
export const HIDDEN = 1 << 30;

const WINDOW = 3;
const RARE = /[^a-z]/g;
const fold = (byte: number): number => byte | 0x20;
const rareness = (text: string): number => text.match(RARE)?.length ?? 0;

function literal(text: string, rules: number): Literal {
  const anyCase = text.startsWith('~') || rules === HIDDEN;
  const bytes = Buffer.from(text.replace(/^~/, ''), 'latin1');
  let offset = 0;
  const window = (at: number): string => bytes.toString('latin1', at, at + WINDOW);
  for (let at = 1; at + WINDOW <= bytes.length; at++) if (rareness(window(at)) > rareness(window(offset))) offset = at;
  return { rules, text: bytes, anyCase, offset };
}

/** Literals by their folded window; of pairs of folded bytes, whether one begins a window (1) or ends one (2). */
const byWindow = new Map<number, Literal[]>();
const places = new Uint8Array(1 << 16);
/** Hashes of windows: most pairs that are asked for stand in none. */
const windows = new Uint8Array(1 << 16);
const mix = (window: number): number => Math.imul(window, 0x9e3779b1) >>> 16;

for (const one of [
  ...RULES.flatMap(({ literals }, i) => literals.map((text) => literal(text, 1 << i))),
  ...HIDING.map((text) => literal(text, HIDDEN)),
]) {
  const [a, b, c] = [...one.text.subarray(one.offset, one.offset + WINDOW)].map(fold) as [number, number, number];
  const window = (a << 16) | (b << 8) | c;
  const list = byWindow.get(window);
  if (list) list.push(one);
  else byWindow.set(window, [one]);
  windows[mix(window)] = 1;
  places[(a << 8) | b]! |= 1;
  places[(b << 8) | c]! |= 2;
}

/** Calls `found` for every literal that stands in `bytes`, in order. */
export function findLiterals(bytes: Buffer, found: (at: number, rules: number) => void): void {
  const addon = scanAddon();
  if (addon) {
    for (const from of addon.pairWindows(bytes, places, windows)) look(bytes, from, found);
    return;
  }
  // Of the two pairs in a window one is read.
  for (let i = 1; i < bytes.length; i += 2) {
    const place = places[(bytes[i - 1]! << 8) | bytes[i]! | 0x2020]!;
    if (place === 0) continue;
    if ((place & 2) !== 0) look(bytes, i - 2, found);
    if ((place & 1) !== 0) look(bytes, i - 1, found);
  }
}

function look(bytes: Buffer, from: number, found: (at: number, rules: number) => void): void {
  if (from < 0 || from + WINDOW > bytes.length) return;
  const window = (fold(bytes[from]!) << 16) | (fold(bytes[from + 1]!) << 8) | fold(bytes[from + 2]!);
  if (windows[mix(window)] === 0) return;
  for (const one of byWindow.get(window) ?? []) {
    const at = from - one.offset;
    if (at >= 0 && stands(bytes, at, one)) found(at, one.rules);
  }
}

/** The rules, as bits, and `HIDDEN`. */
export function rulesFor(bytes: Buffer): number {
  let all = 0;
  findLiterals(bytes, (_, rules) => {
    all |= rules;
  });
  return all;
}

function stands(bytes: Buffer, at: number, { text, anyCase, rules }: Literal): boolean {
  if (at + text.length > bytes.length) return false;
  for (let i = 0; i < text.length; i++) {
    const byte = bytes[at + i]!;
    if (byte !== text[i] && !(anyCase && fold(byte) === fold(text[i]!))) return false;
  }
  const end = at + text.length;
  if (text.length === URL_LITERAL.length && text.equals(URL_BYTES)) return hasPassword(bytes, end);
  return rules !== HIDDEN || text[1] !== 0x75 || isPrintable(bytes[end]);
}

const URL_BYTES = Buffer.from(URL_LITERAL);
/** First digit of two that stand for a printable character of ASCII. */
const isPrintable = (digit: number | undefined): boolean => digit !== undefined && digit >= 0x32 && digit <= 0x37;

/** A URL without user and password gives no rule anything to find, and one with a stand-in for the password neither. */
const USER_AND_PASSWORD = 520;
const STAND_IN = Buffer.from('REDACTED_');
function hasPassword(bytes: Buffer, from: number): boolean {
  const to = Math.min(bytes.length, from + USER_AND_PASSWORD);
  let colon = -1;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === 0x40) return colon >= 0 && !bytes.subarray(colon + 1, colon + 1 + STAND_IN.length).equals(STAND_IN);
    if (byte <= 0x20 || byte === 0x2f) return false;
    if (byte === 0x3a && colon < 0) colon = at;
  }
  return false;
}
