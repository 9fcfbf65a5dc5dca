/** Secrets known by the name before them: `KEY=value`, `key: value`, `--password value`, `<key>value</key>`, tables, prose. */
import { AnchorFlag } from '../scan/layout.js';
import { isPasswordValue, isTokenValue } from '../value-gates.js';
import { type KeyKind, keyKind } from './key-names.js';
import { specialField } from './special-fields.js';
import {
  type Anchored,
  CHAR,
  type Detector,
  isChar,
  matchAt,
  runAfter,
  runBefore,
  type TextView,
} from './text-view.js';

const KEY_MOST = 64;
const VALUE_MOST = 5000;
/** A value that is longer is looked at once, not again from each key in it. */
const LONG = 400;
/** All but the dot may end a key; dots only join. */
const KEY_CHARS = CHAR.name;

const allCaps = (key: string): boolean => /^[A-Z][A-Z0-9_]*$/.test(key);

export const keyValueAt: Detector = (view, at) => {
  if (view.escaped) return;
  const { text } = view;
  const from = runBefore(text, at, KEY_CHARS, KEY_MOST);
  let to = runAfter(text, at, KEY_CHARS, KEY_MOST);
  while (to > at && isChar(text, to - 1, CHAR.dot)) to--;
  let key = text.slice(from, to);
  let kind = keyKind(key);
  if (kind === null || BARE_WORD.test(key)) {
    const words = wordsBefore(text, from, to);
    const spoken = words >= 0 ? keyKind(text.slice(words, to).replace(/[ -]+/g, '_')) : null;
    if (spoken !== null) {
      key = text.slice(words, to).replace(/[ -]+/g, '_').toLowerCase();
      kind = spoken;
    }
  }
  if (kind === null) return;
  const found = valueAfter(view, from, to, key, kind);
  if (!found) return;
  const end = found.start + found.value.length;
  if (found.value.length > LONG && found.start < view.refusedTo) return;
  if (found.value.length > LONG) view.refusedTo = Math.max(view.refusedTo, end);
  if (!accept(kind, found.value, found.loose || allCaps(key))) return;
  push(view, kind, found.start, found.value);
};

/** Names of several words: `Secret access key`, `API key`. */
const BARE_WORD = /^(?:key|token|secret)$/i;
const WORDS = /(?:[A-Za-z]{2,12}[ -]){1,3}$/;
function wordsBefore(text: string, from: number, to: number): number {
  if (!BARE_WORD.test(text.slice(from, to))) return -1;
  const words = WORDS.exec(text.slice(Math.max(0, from - 40), from));
  return words ? from - words[0].length : -1;
}

export function push(view: TextView, kind: KeyKind, start: number, value: string): void {
  view.spans.push({
    start,
    end: start + value.length,
    family: kind === 'password' ? 'password' : 'generic-secret',
    certainty: 'keyValue',
    value,
  });
}

export function accept(kind: KeyKind, value: string, loose: boolean): boolean {
  return kind === 'password' ? isPasswordValue(value, loose) : isTokenValue(value);
}

interface Value {
  start: number;
  value: string;
  /** Configuration, command lines and prose, where weak passwords count. */
  loose: boolean;
}

/** `: type =` of declarations, else a separator; `[default]` of a dialogue may stand before it, marks of Markdown around it. */
const ASSIGN =
  /(?:\\{0,6}["'`])?\]?\)?(?:[*_]{1,2})?(?:[ \t]\[[^\]\n]{0,40}\])?(?:\??:[ \t]{0,2}[&*']{0,2}[A-Za-z_][\w<>[\].|&?' ]{0,40}?[ \t]{1,4}=(?!=)|[ \t]{0,40}(?::=|\?=|\+=|=>|->|[:=]))(?:[*_]{1,2})?[ \t]{0,40}/y;
/** A value on a line of its own below the key. */
const NEXT_LINE = /\r?\n[ \t>+|-]{1,40}(?=[^\s:"']{8,}\s*(?:$|\n))/y;
/** `name: KEY` and `value: …` below it. */
const NAMED =
  /["']?,?[ \t]{0,4}(?:\r?\n[ \t>+|-]{0,40}|[ \t])["']?(?:value|Value|val|VALUE)["']?[ \t]{0,2}[:=][ \t]{0,8}|["']?[ \t]{0,4}\{[^{}]{0,200}?\b(?:default|value)[ \t]{0,8}[:=][ \t]{0,4}/y;
/** Two strings one after the other: arguments of a call, of a program, cells of a table, attributes. */
const PAIR =
  /\\{0,6}["'`][ \t]{0,4}(?:,|\)?\.)[ \t]{0,4}(?:[a-z]{1,12}\()?(?=\\{0,6}["'`])|["'][ \t]{1,4}(?:value|Value|content)[ \t]{0,2}=[ \t]{0,2}(?=["'])/y;
const MARKUP = /<\/(?:key|name|dt|th|td)>\s{0,80}<(?:string|value|dd|td)>|(?=>)>|"[ \t]{0,4}>/y;
const CELL = /[ \t]{0,60}(?:\||\u00e2\u0094\u0082)[ \t]{1,60}/y;
const BLANKS = /[ \t]{1,60}/y;
const SCHEME =
  /\[?(?:Bearer|Basic|token|Token|ApiKey|Digest|Negotiate|Splunk|GenieKey|SSWS|bearer|basic|DPoP)[ \t]{1,4}/y;
const IS = /(?:[ \t]\w{1,12}){0,5}?[ \t]{1,4}(?:is|was|=|:|are|to|ist|est|es)(?::)?[ \t]{1,4}(?:now[ \t])?/y;
/** `Credential("…")`, `by extra("…")`. */
const CALL = /(?:[ \t]by[ \t]\w{1,20})?\([ \t]{0,4}(?=["'`])/y;
/** `name "value"`: settings of servers, Lisp, HCL. */
const QUOTED_NEXT = /[ \t]{1,40}(?=\\{0,4}["'])/y;
const PREFIX = /(?:[bBrRfFuU]{1,2}|@|\$|N)(?=["'])/y;
const OPEN = /\\{0,6}["'`]/y;
const BLOCK_SCALAR = /[|>][-+]?\d?[ \t]{0,8}\r?\n[ \t]{1,40}/y;

function after(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : -1;
}

/** Value behind the key `text[from..end)`, or null. */
function valueAfter(view: TextView, from: number, end: number, key: string, kind: KeyKind): Value | null {
  const { text } = view;
  const flag = key.startsWith('-');
  let at = after(ASSIGN, text, end);
  let loose = true;
  let code = false;
  if (at >= 0) {
    const separator = text.slice(end, at);
    if (/[=!<>]=/.test(separator) || text[at] === '=') return null;
    code = /[ \t]=/.test(separator) || /^["'`\\]/.test(separator);
    for (const below of [BLOCK_SCALAR, NEXT_LINE]) {
      const start = after(below, text, at);
      if (start < 0) continue;
      at = start;
      break;
    }
  } else {
    at = after(PAIR, text, end);
    if (at < 0) at = after(NAMED, text, end);
    else code = !flag;
    if (at >= 0) code &&= !flag;
    else if (text[from - 1] === '<' || text[from - 1] === '>' || text[end] === '"') at = after(MARKUP, text, end);
    if (
      at < 0 &&
      /[|\u0082]/.test(
        text
          .slice(Math.max(0, from - 3), from)
          .trimEnd()
          .slice(-1),
      )
    )
      at = after(CELL, text, end);
    if (at < 0) {
      at = after(CALL, text, end);
      if (at >= 0) code = true;
    }
    if (at < 0 && kind === 'password' && PLAIN_PASSWORD.test(key)) {
      at = after(IS, text, end);
      if (at < 0) at = after(BLANKS, text, end);
      if (at >= 0 && /\(/.test(text.slice(at, at + 24))) return null;
    } else if (at < 0 && kind === 'token' && /^(?:token|secret|key)$/i.test(key.split(/[_-]/).at(-1)!))
      at = after(IS, text, end);
    if (at < 0 && flag) at = after(BLANKS, text, end);
    if (at < 0) {
      at = after(QUOTED_NEXT, text, end);
      if (at >= 0) code = true;
    }
    if (at < 0) {
      at = after(BLANKS, text, end);
      // Nothing but a blank between: a line of settings, or `set NAME value`.
      if (
        at < 0 ||
        !(SETTING_BEFORE.test(text.slice(Math.max(0, from - 40), from)) && (allCaps(key) || restOfLine(text, at)))
      )
        return null;
      loose = SET_BEFORE.test(text.slice(Math.max(0, from - 40), from));
    }
    if (at < 0) return null;
  }
  const scheme = after(SCHEME, text, at);
  if (scheme >= 0) at = scheme;
  const prefix = after(PREFIX, text, at);
  if (prefix >= 0) at = prefix;
  const open = after(OPEN, text, at);
  const quote = open >= 0 ? text.slice(at, open) : '';
  let start = open >= 0 ? open : at;
  if (quote) {
    const inner = after(SCHEME, text, start);
    if (inner >= 0) start = inner;
  }
  let to = quote ? closing(text, start, quote) : bare(view, start);
  if (!quote && kind === 'token') to = beforeHost(text, start, to);
  if (!quote && !flag) to = Math.max(to, wholeLine(text, from, start));
  const prose = !code && !flag && /^[ \t]/.test(text.slice(end, end + 1)) && !quote;
  while (to > start && !quote && /[.:!?]/.test(text[to - 1]!) && (prose ? !/[!]/.test(text[to - 1]!) : false)) to--;
  const value = text.slice(start, to);
  if (!quote && !allCaps(key) && /[(?{[]/.test(text[to] ?? '') && /^[A-Za-z_$][\w$.]*$/.test(value)) return null;
  if (!quote && code && /[(?]/.test(value) && !allCaps(key)) return null;
  if (code && quote === '') loose = false;
  if (code && quote !== '' && /[ \t]=/.test(text.slice(end, at))) loose = allCaps(key);
  return { start, value, loose };
}

const PLAIN_PASSWORD = /^(?:password|passwd|passphrase|pwd|pass|passcode|passwort|kennwort)$/i;
const SETTING_BEFORE =
  /(?:^|\n)[ \t+>|-]{0,20}(?:\d{1,6}[\t:|][ \t]{0,8})?(?:[$#>%][ ])?(?:[\w-]{1,20} ){0,2}?(?:ENV |setx |set (?:-gx |-x |-Ux )?|configure set |config set |\(setenv )?["']?$/;
const SET_BEFORE = /(?:ENV |setx |set (?:-gx |-x |-Ux )?|configure set |config set )["']?$/;
/** One word up to the end of the line. */
const restOfLine = (text: string, at: number): boolean =>
  /^[^\s]{8,2000}[ \t]*(?:--[\w-]+ |\r?\n|$)/.test(text.slice(at, at + 2100));

function closing(text: string, start: number, quote: string): number {
  const most = Math.min(text.length, start + VALUE_MOST);
  const last = quote.at(-1)!;
  for (let i = start; i < most; i++) {
    const c = text[i]!;
    if (c === '\n') return i;
    if (c === last && (quote.length > 1 || text[i - 1] !== '\\')) return quote.length > 1 ? i - (quote.length - 1) : i;
  }
  return most;
}

const END = new Uint8Array(256);
for (const c of '\0 \t\n\v\f\r"\'`,;<>|&)]}\u00a0') END[c.charCodeAt(0)] = 1;
const ESCAPE_END = new Set('"\'nrt`');

/** End of the unquoted value from `start` on. */
function bare(view: TextView, start: number): number {
  if (start >= view.runFrom && start < view.runTo) return Math.min(view.runTo, start + VALUE_MOST);
  const { text } = view;
  let i = start;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (END[c & 255] === 1 || (c === 92 && ESCAPE_END.has(text[i + 1] ?? ''))) break;
  }
  view.runFrom = start;
  view.runTo = i;
  return Math.min(i, start + VALUE_MOST);
}

/** `token@host/…`: the address begins at the `@`. */
function beforeHost(text: string, start: number, end: number): number {
  const at = text.indexOf('@', start);
  return at > start && at < end && /^@[\w-]+(?:\.[\w-]+)+[:/]?/.test(text.slice(at, at + 80)) ? at : end;
}

const LINE_BEFORE =
  /(?:^|\n)[ \t>+|-]{0,40}(?:\d{1,6}[ \t]*(?:\u00e2\u0086\u0092|[\t|:])[ \t]{0,20})?(?:export |set |ENV |- )?["']?$/;

/** Where the value is all the rest of a line of settings: its end, with any characters but blanks and quotes. */
function wholeLine(text: string, key: number, start: number): number {
  if (!LINE_BEFORE.test(text.slice(Math.max(0, key - 90), key))) return -1;
  const match = matchAt(/[^\s"'`\\]{20,200}(?=\r?\n|$)/y, text, start);
  if (!match || /^[\w$.]+\(|[;{]$|\)$|=>|\$\{|[&;?]\w{1,40}=|:\/\//.test(match[0])) return -1;
  return start + match[0].replace(/[,;]+$/, '').length;
}

/** The whole text is the value of the JSON field `view.key`. */
export const fieldValue: Detector = (view) => {
  const kind = keyKind(view.key);
  const value = view.text.trim();
  if (specialField(view)) return;
  if (kind === null || value.length > VALUE_MOST || /[\r\n]/.test(value)) return;
  const scheme = after(SCHEME, value, 0);
  const secret = scheme >= 0 ? value.slice(scheme) : value;
  if (!accept(kind, secret, true)) return;
  push(view, kind, view.text.indexOf(value) + value.length - secret.length, secret);
};

/** Parts of names of secrets. */
export const KEY_VALUES: Anchored[] = [
  {
    anchors:
      'token secret pass key pwd credential creds bearer auth _pat -pat pat: pat= pat" pat\' otp cookie psk wif dsn mnemonic sessionid connect.sid jsessionid sig= signature code_verifier device_code pw= pw: kennwort contrase senha wachtwoord mot␣de␣passe',
    flags: AnchorFlag.secretKey,
    detector: keyValueAt,
  },
];
