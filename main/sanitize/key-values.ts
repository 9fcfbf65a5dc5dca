/** Secrets known by the name beside them: `KEY=value`, `key: value`, `--password value`, `"key": "value"`, prose. */
import { matchesOf } from './matches.js';
import type { Span } from './span.js';
import { isPasswordValue, isTokenValue } from './value-gates.js';

const SECRET_WORD =
  /(?:api|access|account|auth|private|secret|shared|encryption|signing|master|admin|license|sdk|service|data|app|deploy(?:er)?|storage|iam|db|user)[_-]?key|token|secret|passw(?:or)?d|passphrase|passwd|pwd|credential|bearer|pat|_key|key_?base|auth|password|dsn|otp|cookie|session|psk|passcode|wif/gi;
const PASSWORD = /(?:passw(?:or)?d|passphrase|passwd|pwd|passcode|psk)$/;
const TOKEN =
  /(?:^|_)(?:token|secret|apikey|api_key|access_key|account_key|auth_key|private_key|secret_key|shared_key|encryption_key|signing_key|master_key|admin_key|license_key|sdk_key|service_key|data_key|app_key|storage_key|deploy_key|server_key|bearer|pat|ext_pat|authtoken|auth_token|accesstoken|key_base|wallet_wif|auth|credentials?|client_secret|session_secret|access_key_secret|secret_access_key|origin_ca_key|authorization|sig|signature_key|cookie_secret|sas_token|session_token|refresh_token|id_token|user_key|iam_key|webhook_secret)$/;
const ENV_KEY = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_KEY$/;
const NOT_SECRET =
  /(?:^|_)(?:public|publishable|search|primary|foreign|cache|sort|partition|row|index|object|bucket|idempotency|max|min|count|total|input|output|num|type|next|page|csrf_name|tool|call)_|tokens$|(?:^|_)(?:key_id|token_type|token_count|tokenizer)$/;

/** A key as snake_case: `azureDevopsExtPat` -> `azure_devops_ext_pat`. */
export function snakeCase(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.\s:]+/g, '_')
    .toLowerCase()
    .replace(/^_+|_+$/g, '');
}

export type KeyKind = 'password' | 'token' | null;

export function keyKind(key: string): KeyKind {
  if (key.length > 64) return null;
  const name = snakeCase(key);
  if (NOT_SECRET.test(name)) return null;
  if (PASSWORD.test(name)) return 'password';
  return TOKEN.test(name) || ENV_KEY.test(key) ? 'token' : null;
}

/** A string that is the whole value of a JSON key. */
export function valueOfKey(key: string, text: string): Span[] {
  const kind = keyKind(key);
  const value = text.trim();
  if (!kind || value.length > 5000 || /[\r\n]/.test(value)) return [];
  if (!accept(kind, value, true)) return [];
  const start = text.indexOf(value);
  return [
    {
      start,
      end: start + value.length,
      family: kind === 'password' ? 'password' : 'generic-secret',
      certainty: 'keyValue',
      value,
    },
  ];
}

export function findKeyValues(text: string): Span[] {
  const out: Span[] = [];
  let done = 0;
  for (const match of matchesOf(SECRET_WORD, text)) {
    if (match.index < done) continue;
    const [start, end] = keyAround(text, match.index, match.index + match[0].length);
    const key = text.slice(start, end);
    const kind = keyKind(key.replace(/^-+/, ''));
    if (!kind) continue;
    const found = valueAfter(text, end, key);
    if (!found) continue;
    const [from, to, loose] = found;
    const value = text.slice(from, to);
    if (!accept(kind, value, loose || ENV_KEY.test(key) || /^[A-Z0-9_]+$/.test(key))) continue;
    out.push({
      start: from,
      end: to,
      family: kind === 'password' ? 'password' : 'generic-secret',
      certainty: 'keyValue',
      value,
    });
    done = to;
  }
  return out;
}

function accept(kind: 'password' | 'token', value: string, loose: boolean): boolean {
  return kind === 'password' ? isPasswordValue(value, loose) : isTokenValue(value);
}

function keyAround(text: string, start: number, end: number): [number, number] {
  let from = start;
  let to = end;
  while (from > 0 && start - from < 48 && /[\w.-]/.test(text[from - 1]!)) from--;
  while (to < text.length && to - end < 48 && /[\w-]/.test(text[to]!)) to++;
  return [from, to];
}

const QUOTES = '"\'`';

/** Range of the value behind a key, and whether the place is configuration (weak passwords count there). */
function valueAfter(text: string, end: number, key: string): [number, number, boolean] | null {
  const gap =
    /^(\\{0,6}["'`]?\]?[ \t]{0,20}(?::=|=>|[:=])[ \t]{0,40}|[ \t]{1,4}(?=\S))((?:Bearer|Basic|token)[ \t]{1,4})?(\\{0,6}["'`])?/i.exec(
      text.slice(end, end + 120),
    );
  if (!gap) return null;
  const [whole, separator = '', , quote] = gap;
  const assigned = /[:=]/.test(separator);
  const prose = !assigned && /^(?:password|passwd|passphrase|pwd)$/i.test(key);
  const flag = !assigned && /^--?[\w-]+$/.test(key);
  let from = end + whole.length;
  if (!assigned && !flag && !prose) return null;
  if (prose) {
    const is = /^[ \t]{1,4}(?:is|was|=|:)[ \t]{1,4}(["'`]?)/i.exec(text.slice(end, end + 40));
    if (!is && !flag && !/^(?:password|passwd)$/.test(key)) return null;
    if (is) from = end + is[0].length;
  }
  let to = from;
  if (quote) while (to < text.length && to - from < 5000 && !text.startsWith(quote, to) && text[to] !== '\n') to++;
  else
    while (
      to < text.length &&
      to - from < 5000 &&
      !/[\s"'`,;<>|&)\]}]/.test(text[to]!) &&
      !(text[to] === '\\' && /["'nrt`]/.test(text[to + 1] ?? ''))
    )
      to++;
  const between = text.slice(end, from);
  if (/[=!<>]=/.test(between) || text[from] === '=') return null;
  if (!quote && /[(?]/.test(text.slice(from, to)) && !/^[A-Z0-9_]+$/.test(key)) return null;
  if (!quote && /[({[]/.test(text[to] ?? '') && !QUOTES.includes(text[to - 1] ?? '')) return null;
  while (!quote && to > from && /[.:!?]/.test(text[to - 1]!) && prose) to--;
  const loose = prose || flag || /=$/.test(separator.trimEnd()) ? !/[ \t]=/.test(separator) || !quote : !quote;
  return [from, to, loose];
}
