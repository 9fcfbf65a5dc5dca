/** Finds tokens by shape, and raises the certainty where a checksum proves them. */

import { hasTokenChecksum } from './checksums.js';
import { matchesOf } from './matches.js';
import type { Span } from './span.js';
import { TOKEN_SHAPES } from './token-shapes.js';

const ANY = new RegExp(
  `(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt])|(?<=\\u001b\\[[\\d;]{0,12}m))(?:${TOKEN_SHAPES.map(([, pattern]) => pattern).join('|')})`,
  'g',
);
const EACH = TOKEN_SHAPES.map(([family, pattern]) => ({ family, regex: new RegExp(`^(?:${pattern})`) }));
/** The longest prefix that starts no token by itself: a placeholder-like run is not redacted. */
const FAKE = /^(?:.{0,24}?)(?:[xX]{8}|[*]{4}|\.{3}|EXAMPLE|example|your[-_]|0{16}|1234567890abcdef|([A-Za-z0-9])\1{9})/;
/** The published sample of jwt.io, and the AWS documentation key. */
const SAMPLES = ['SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c', 'AKIAIOSFODNN7EXAMPLE', 'AKIAI44QH8DHBEXAMPLE'];

export function findTokens(text: string): Span[] {
  const out: Span[] = [];
  for (const match of matchesOf(ANY, text)) {
    const value = match[0];
    if (FAKE.test(value) || SAMPLES.some((sample) => value.includes(sample))) continue;
    const family = EACH.find(({ regex }) => regex.test(value))?.family ?? 'token';
    if (family === 'jwt' && !isJwt(value)) continue;
    const checked = /^(?:gh[pousr]_|npm_)/.test(value) && hasTokenChecksum(value);
    out.push({
      start: match.index,
      end: match.index + value.length,
      family,
      certainty: checked ? 'checksum' : 'shape',
      value,
    });
  }
  return out;
}

function isJwt(value: string): boolean {
  try {
    const header = JSON.parse(Buffer.from(value.split('.')[0]!, 'base64url').toString('utf8')) as { alg?: unknown };
    return typeof header.alg === 'string';
  } catch {
    return false;
  }
}
