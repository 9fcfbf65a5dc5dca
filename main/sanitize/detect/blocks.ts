/** Private keys over several lines: header and footer stay, each line of the body is replaced by itself. */
import { AnchorFlag } from '../scan/layout.js';
import type { Span } from '../span.js';
import { type Anchored, type Detector, matchAt } from './text-view.js';

const BEGIN = /-----BEGIN ((?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?)-----/y;
const SSH2 = /---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----/y;
const MAX_BODY = 60_000;
/** Gutters, quotes and diff marks before a line of a body. */
const GUTTER = /^[ \t]*(?:\d{1,6}[ \t]*(?:\u00e2\u0086\u0092|[\t|:>])|[>+|-]{1,3})?[ \t"',]*/;
const BODY_LINE = /^[A-Za-z0-9+/=]{8,400}[ \t"',+\\]{0,8}$/;

const pemBlock: Detector = ({ text, spans }, at) => {
  const match = matchAt(BEGIN, text, at) ?? matchAt(SSH2, text, at);
  if (!match) return;
  const from = at + match[0].length;
  const next = text.indexOf('-----BEGIN', from);
  const limit = text.slice(from, Math.min(next < 0 ? text.length : next, from + MAX_BODY));
  const closing = match[1] ? limit.indexOf(`-----END ${match[1]}-----`) : limit.indexOf('---- END');
  if (closing < 0 && !/^(?:\\[nr]|\s)/.test(limit)) return;
  bodyPieces(spans, limit.slice(0, closing < 0 ? openEnd(limit) : closing), from);
};

const puttyBlock: Detector = ({ text, spans }, at) => {
  const match = matchAt(/Private-Lines: \d{1,4}/y, text, at);
  if (!match) return;
  const from = at + match[0].length;
  const limit = text.slice(from, from + MAX_BODY);
  const closing = limit.indexOf('Private-MAC');
  bodyPieces(spans, limit.slice(0, closing < 0 ? openEnd(limit) : closing), from);
};

/** Without a footer the body ends at the first line that is no base64. */
function openEnd(limit: string): number {
  let at = 0;
  for (const line of limit.split('\n')) {
    if (at > 0 && !BODY_LINE.test(line.slice(0, 480).replace(GUTTER, '').trimEnd())) break;
    at += line.length + 1;
  }
  return Math.min(at, limit.length);
}

const PIECE = /\\[nr]|REDACTED_\w{1,80}|[A-Za-z0-9+/=]{4,}/g;
/** What is left of a line when gutters, times and names of services stand before the body. */
const LAST_RUN = /(?:^|[\s|>"',:+\u0092-])([A-Za-z0-9+/=]{4,})[ \t\r"',+\\)]{0,8}$/;
/** Words of headers inside a block (RFC 1421, RFC 4880), and their values that are no secret. */
const HEADER = /(?:^|\s)[A-Z][A-Za-z-]{2,20}: [^\n]{0,200}$/;

function bodyPieces(spans: Span[], body: string, from: number): void {
  let at = from;
  for (const line of body.split('\n')) {
    if (/\\[nr]/.test(line) || !body.includes('\n'))
      for (const match of line.matchAll(PIECE)) addPiece(spans, at + match.index, match[0]);
    else if (!HEADER.test(line)) {
      const last = LAST_RUN.exec(line.length > 4000 ? line.slice(-4000) : line);
      if (last) addPiece(spans, at + line.length - last[0].length + last[0].indexOf(last[1]!), last[1]!);
    }
    at += line.length + 1;
  }
}

function addPiece(spans: Span[], start: number, value: string): void {
  if (value.startsWith('\\') || value.startsWith('REDACTED_')) return;
  spans.push({ start, end: start + value.length, family: 'private-key', certainty: 'block', value });
}

/** Ansible vault bodies, line by line. */
const ansibleVault: Detector = ({ text, spans }, at) => {
  const header = matchAt(/\$ANSIBLE_VAULT;[\w.;-]{1,60}/y, text, at);
  if (!header) return;
  const line = /(?:\\n|[\s+>|-]|\d{1,6}(?:\t|\u00e2\u0086\u0092)){1,40}([0-9a-f]{8,160})(?![0-9A-Za-z])/y;
  line.lastIndex = at + header[0].length;
  for (let match = line.exec(text); match && line.lastIndex - at < MAX_BODY; match = line.exec(text)) {
    const end = line.lastIndex;
    spans.push({
      start: end - match[1]!.length,
      end,
      family: 'ansible-vault',
      certainty: 'block',
      value: match[1]!,
    });
  }
};

export const BLOCKS: Anchored[] = [
  { anchors: '-----BEGIN ----␣BEGIN', flags: AnchorFlag.exactCase, detector: pemBlock },
  { anchors: 'Private-Lines:', flags: AnchorFlag.exactCase, detector: puttyBlock },
  { anchors: '$ANSIBLE_VAULT;', flags: AnchorFlag.exactCase, detector: ansibleVault },
];
