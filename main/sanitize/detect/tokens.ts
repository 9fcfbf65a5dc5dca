/** Tokens by shape; a checksum raises the certainty. */
import { hasTokenChecksum, isWif } from '../checksums.js';
import { AnchorFlag } from '../scan/layout.js';
import type { Span } from '../span.js';
import { entropy } from '../value-gates.js';
import { type Anchored, CHAR, type Detector, isChar, matchAt, runBefore } from './text-view.js';
import { TOKEN_FAMILIES } from './token-families.js';

/** Placeholder-like runs are not redacted. */
const FAKE = /(?:[xX]{8}|[*]{4}|\.{3}|EXAMPLE|example|your[-_]|0{16}|1234567890abcdef|([A-Za-z0-9])\1{9})/;
/** The published sample of jwt.io, and the AWS documentation keys. */
const SAMPLES = ['SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c', 'AKIAIOSFODNN7EXAMPLE', 'AKIAI44QH8DHBEXAMPLE'];
/** Families whose body may hold runs of one letter by their format. */
const RUNS_ALLOWED = new Set(['twitter-bearer', 'jwt', 'pypi-token', 'fly-access-token', 'aws-session-token']);
/** Bodies that may be checked by CRC-32: GitHub's and npm's. */
const CHECKED = /^(?:gh[pousr]_|npm_)/;

export function isFake(family: string, value: string): boolean {
  if (SAMPLES.some((sample) => value.includes(sample))) return true;
  const head = RUNS_ALLOWED.has(family) ? value.slice(0, 20) : value.slice(0, 200);
  return family !== 'twitter-bearer' && FAKE.test(head);
}

function isJwt(value: string): boolean {
  try {
    const header = JSON.parse(Buffer.from(value.split('.')[0]!, 'base64url').toString('utf8')) as { alg?: unknown };
    return typeof header.alg === 'string';
  } catch {
    return false;
  }
}

function add(spans: Span[], family: string, start: number, value: string): void {
  if (isFake(family, value) || (family === 'jwt' && !isJwt(value))) return;
  const checked = CHECKED.test(value) && hasTokenChecksum(value);
  spans.push({ start, end: start + value.length, family, certainty: checked ? 'checksum' : 'shape', value });
}

function byShape(family: string, pattern: string): Detector {
  const sticky = new RegExp(`(?:${pattern})`, 'y');
  return ({ text, spans }, at) => {
    const match = matchAt(sticky, text, at);
    if (match) add(spans, family, at, match[0]);
  };
}

/** Tokens with a fixed piece in their middle: `before` characters of a class stand before it. */
function byMiddle(family: string, kinds: number, before: number, pattern: string): Detector {
  const sticky = new RegExp(`(?:${pattern})(?![A-Za-z0-9])`, 'y');
  return ({ text, spans }, at) => {
    const start = runBefore(text, at, kinds, before);
    if (
      isChar(text, start - 1, CHAR.alnum) &&
      !/(?:^|[^A-Za-z0-9])bot$/.test(text.slice(Math.max(0, start - 4), start))
    )
      return;
    const match = matchAt(sticky, text, start);
    if (match) add(spans, family, start, match[0]);
  };
}

/** Whole addresses that let anyone post: the subdomain and the path are the secret. */
const webhookAddress: Detector = ({ text, spans }, at) => {
  let from = at;
  while (from > 0 && at - from < 100 && /[A-Za-z0-9:/.-]/.test(text[from - 1]!)) from--;
  const match = matchAt(WEBHOOK, text, from);
  if (match) add(spans, 'webhook', from, match[0]);
};
const WEBHOOK =
  /https?:\/\/(?:[\w-]{1,60}\.){0,3}(?:webhook\.office\.com\/webhookb2|logic\.azure\.com(?::443)?\/workflows|powerplatform\.com(?::443)?\/[\w/]{0,80}workflows)\/[\w@/.?=&%~-]{40,400}/y;

/** The secret key that stands on the line of an access key id, as in the files that AWS hands out. */
const AWS_SECRET = /[^A-Za-z0-9/+=\n](?=([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=]))/g;
const awsPair: Detector = ({ text, spans }, at) => {
  const line = text.slice(at, at + 200).split('\n', 1)[0]!;
  for (const match of line.matchAll(AWS_SECRET)) {
    const value = match[1]!;
    if (!/[a-z]/.test(value) || !/[A-Z]/.test(value) || !/\d/.test(value) || /EXAMPLE/.test(value)) continue;
    const start = at + match.index + 1;
    spans.push({ start, end: start + value.length, family: 'aws-secret-access-key', certainty: 'block', value });
  }
};

/** `acme_live_…`: how vendors build tokens, where none of the families is meant. Publishable keys are public. */
const VENDOR =
  /[A-Za-z][A-Za-z0-9]{1,15}[_-](?:live|prod|production|sandbox|secret|sk|pat|token|tok|apikey|api|key)[_-](?:v\d[_-])?([A-Za-z0-9]{24,200})(?![A-Za-z0-9_-])/y;
const vendorToken: Detector = ({ text, spans }, at) => {
  const start = runBefore(text, at, CHAR.alnum, 16);
  if (isChar(text, start - 1, CHAR.word | CHAR.dash)) return;
  const match = matchAt(VENDOR, text, start);
  if (!match || /^(?:pk|pub|public)/i.test(match[0])) return;
  const body = match[1]!;
  const mixed = /[0-9]/.test(body) && /[A-Z]/.test(body) && /[a-z]/.test(body);
  if (!mixed || entropy(body) <= 3.8 || isFake('vendor-token', match[0])) return;
  const end = start + match[0].length;
  spans.push({ start, end, family: 'vendor-token', certainty: 'entropy', value: match[0] });
};

const shapeFlags = AnchorFlag.start | AnchorFlag.exactCase;
const middle = (family: string, anchors: string, kinds: number, before: number, pattern: string): Anchored => ({
  anchors,
  flags: AnchorFlag.exactCase,
  detector: byMiddle(family, kinds, before, pattern),
});

export const TOKENS: Anchored[] = [
  { anchors: 'AKIA ASIA', flags: shapeFlags, detector: awsPair },
  ...TOKEN_FAMILIES.map(([family, anchors, pattern]) => ({
    anchors,
    flags: shapeFlags,
    detector: byShape(family, pattern),
  })),
  {
    anchors: 'MD MT Mj Mz ND NT Nj Nz OD OT',
    flags: shapeFlags,
    detector: byShape(
      'discord-bot-token',
      '[MNO][A-Za-z\\d_-]{23,27}\\.[A-Za-z\\d_-]{6}\\.[A-Za-z\\d_-]{27,38}(?![A-Za-z0-9])',
    ),
  },
  { anchors: 'webhook.office.com/ logic.azure.com powerplatform.com', flags: 0, detector: webhookAddress },
  {
    anchors: 'K L 5',
    flags: shapeFlags,
    detector: ({ text, spans }, at) => {
      const match = matchAt(
        /(?:[KL][1-9A-HJ-NP-Za-km-z]{51}|5[HJK][1-9A-HJ-NP-Za-km-z]{49})(?![A-Za-z0-9])/y,
        text,
        at,
      );
      if (match && isWif(match[0])) add(spans, 'bitcoin-wif', at, match[0]);
    },
  },
  {
    anchors:
      '_live_ _prod_ _production_ _sandbox_ _secret_ _sk_ _pat_ _token_ _tok_ _apikey_ _api_ _key_ -live- -prod-',
    flags: AnchorFlag.exactCase,
    detector: vendorToken,
  },
  { anchors: 'pat', flags: shapeFlags, detector: byShape('airtable-pat', 'pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}') },
  middle('azure-client-secret', 'Q~', CHAR.name, 4, '[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}'),
  middle('azure-devops-pat', 'JQQJ99', CHAR.alnum, 52, '[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}'),
  middle('telegram-bot-token', ':AA', CHAR.digit, 10, '\\d{8,10}:AA[A-Za-z0-9_-]{33}'),
  middle('mailchimp-key', '-us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9', CHAR.alnum, 32, '[a-f0-9]{32}-us\\d{1,2}'),
  middle('terraform-cloud-token', '.atlasv1.', CHAR.alnum, 14, '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{60,70}'),
  middle('newrelic-key', 'NRAL', CHAR.alnum, 36, '[a-f0-9]{36}NRAL'),
];

/** Mailgun's keys: 32, 8 and 8 hex digits. */
export const hexTriple: Detector = byShape('mailgun-key', '[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}(?![A-Za-z0-9-])');
