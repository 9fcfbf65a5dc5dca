/** Private keys over several lines: header and footer stay, each line of the body is replaced by itself. */
import { matchesOf } from './matches.js';
import type { Span } from './span.js';

const BEGIN = /-----BEGIN ((?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?)-----/g;
const MAX_BODY = 60_000;
const PUTTY = /Private-Lines: \d{1,4}/g;

export function findBlocks(text: string): Span[] {
  const out: Span[] = [];
  for (const match of matchesOf(BEGIN, text)) {
    const from = match.index + match[0].length;
    const limit = text.slice(from, bodyLimit(text, from));
    if (!/^(?:\\{1,4}[nr]|\s)/.test(limit)) continue;
    const closing = limit.indexOf(`-----END ${match[1]}-----`);
    out.push(...bodyLines(limit, closing < 0 ? openEnd(limit) : closing, from));
  }
  for (const match of matchesOf(PUTTY, text)) {
    const from = match.index + match[0].length;
    const limit = text.slice(from, from + MAX_BODY);
    const closing = limit.indexOf('Private-MAC');
    out.push(...bodyLines(limit, closing < 0 ? openEnd(limit) : closing, from));
  }
  return out;
}

/** Without a footer the body ends at the first line that is no base64. */
function openEnd(limit: string): number {
  let at = 0;
  for (const line of limit.split('\n')) {
    if (at > 0 && !/^[\s+>|-]{0,8}[A-Za-z0-9+/=\\]{16,400}\s{0,4}$/.test(line.slice(0, 420))) break;
    at += line.length + 1;
  }
  return Math.min(at, limit.length);
}

function bodyLines(limit: string, length: number, from: number): Span[] {
  const out: Span[] = [];
  for (const line of limit.slice(0, length).matchAll(/\\[nr]|REDACTED_\w{1,80}|[A-Za-z0-9+/=]{4,}/g)) {
    if (
      line[0].startsWith('\\') ||
      line[0].startsWith('REDACTED_') ||
      /^(?:Proc|Type|DEK|Info|ENCRYPTED|Version|Comment|Hash|GnuPG)$/.test(line[0])
    )
      continue;
    out.push({
      start: from + line.index,
      end: from + line.index + line[0].length,
      family: 'private-key',
      certainty: 'block',
      value: line[0],
    });
  }
  return out;
}

/** A body ends where the next key begins; so every character is looked at once. */
function bodyLimit(text: string, from: number): number {
  const next = text.indexOf('-----BEGIN', from);
  return Math.min(next < 0 ? text.length : next, from + MAX_BODY);
}
