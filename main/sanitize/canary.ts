/**
 * Fakes that are planted in a copy of the input to see whether they go: credentials of known families, and forms that no detector
 * was made for. They depend on the input alone. What stays is told by its kind; it is what to expect of the real ones.
 */
import { createHash } from 'node:crypto';
import { crc32Base62 } from './checksums.js';
import { stringEnd } from './scan/json-check.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const HEX = '0123456789abcdef';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const NAMES = ['Tomasin', 'Velkova', 'Okonwe', 'Brightwell', 'Ferrandi', 'Lindqvarn', 'Asakuro', 'Delacroy'];

type Make = (alphabet: string, length: number) => string;
interface Kind {
  label: string;
  /** Made for: a family, a place. Otherwise nothing but its looks gives it away. */
  known: boolean;
  value: (make: Make) => string;
  text: (value: string) => string;
}
const checked = (prefix: string) => (make: Make) => {
  const body = make(BASE62, 30);
  return `${prefix}${body}${crc32Base62(body)}`;
};
const opaque = (length: number) => (make: Make) => make(BASE62, length);
const person = (make: Make): string =>
  `${NAMES[make(HEX, 1).charCodeAt(0) % 8]!} ${NAMES[make(HEX, 2).charCodeAt(1) % 8]!}`;

const KINDS: readonly Kind[] = [
  {
    label: 'GitHub token in a header',
    known: true,
    value: checked('ghp_'),
    text: (v) => `curl -H "Authorization: token ${v}" https://api.github.com`,
  },
  {
    label: 'npm token in .npmrc',
    known: true,
    value: checked('npm_'),
    text: (v) => `//registry.npmjs.org/:_authToken=${v}`,
  },
  { label: 'API key in .env', known: true, value: opaque(40), text: (v) => `WEATHER_API_KEY=${v}` },
  {
    label: 'password in an address',
    known: true,
    value: (make) => `${make(LOWER, 7)}7${make(BASE62, 5)}`,
    text: (v) => `postgres://app:${v}@db.internal.example/app`,
  },
  {
    label: 'password in prose',
    known: true,
    value: (make) => `${make(LOWER, 6)}4!${make(BASE62, 4)}`,
    text: (v) => `the admin password is ${v}, do not share it`,
  },
  {
    label: 'token in base64',
    known: true,
    value: checked('gho_'),
    text: (v) => `echo ${Buffer.from(`login with ${v} please`).toString('base64')} | base64 -d`,
  },
  {
    label: 'account in a home path',
    known: true,
    value: (make) => make(LOWER, 9),
    text: (v) => `cd /home/${v}/src/app && make`,
  },
  {
    label: 'mail address',
    known: true,
    value: (make) => `${make(LOWER, 8)}@${make(LOWER, 7)}-works.io`,
    text: (v) => `send it to ${v}`,
  },
  {
    label: 'vendor token without a name before it',
    known: false,
    value: (make) => `${make(LOWER, 4)}_live_${make(BASE62, 36)}`,
    text: (v) => `try ${v} instead`,
  },
  { label: 'opaque key in a list', known: false, value: opaque(44), text: (v) => `- ${v}` },
  {
    label: 'key in a sentence',
    known: false,
    value: (make) => make(HEX, 48),
    text: (v) => `use ${v} for the staging box`,
  },
  {
    label: 'password after an unusual word',
    known: false,
    value: (make) => `${make(LOWER, 5)}9#${make(BASE62, 5)}`,
    text: (v) => `the door opener is ${v}`,
  },
  { label: 'name in a sentence', known: false, value: person, text: (v) => `ask ${v} about the invoice` },
  {
    label: 'customer number',
    known: false,
    value: (make) => `KD-${make('123456789', 7)}`,
    text: (v) => `customer ${v} complained again`,
  },
];
const ROUNDS = 3;

export interface CanaryScore {
  planted: number;
  gone: number;
  kinds: { label: string; known: boolean; planted: number; gone: number }[];
}
interface Planted {
  bytes: Buffer;
  fakes: { kind: Kind; value: string }[];
}

/** A copy of whole lines with fakes in it; as many lines. */
export function plantCanaries(input: Buffer): Planted {
  const lines = input.toString('latin1').split('\n');
  const seed = createHash('sha256').update(input).digest('hex');
  const places = lines.map((line, i) => [i, placeIn(line)] as const).filter(([, at]) => at >= 0);
  const fakes: Planted['fakes'] = [];
  if (places.length === 0) return { bytes: input, fakes };
  for (let n = 0; n < KINDS.length * ROUNDS; n++) {
    const kind = KINDS[n % KINDS.length]!;
    const value = kind.value(maker(`${seed}/${n}`));
    const [line] = places[Math.floor((n * places.length) / (KINDS.length * ROUNDS))]!;
    const at = placeIn(lines[line]!);
    const escaped = JSON.stringify(`${kind.text(value)}\n`).slice(1, -1);
    const json = /^\s*[{["]/.test(lines[line]!);
    lines[line] = `${lines[line]!.slice(0, at)}${json ? escaped : ` ${kind.text(value)}`}${lines[line]!.slice(at)}`;
    fakes.push({ kind, value });
  }
  return { bytes: Buffer.from(lines.join('\n'), 'latin1'), fakes };
}

/** A fake is gone when no eight characters of it in a row are left, of shorter ones the whole. */
export function scoreCanaries(clean: Buffer, { fakes }: Planted): CanaryScore {
  const text = clean.toString('latin1');
  const kinds = KINDS.map(({ label, known }) => ({ label, known, planted: 0, gone: 0 }));
  for (const { kind, value } of fakes) {
    const row = kinds[KINDS.indexOf(kind)]!;
    row.planted++;
    if (!survives(text, value)) row.gone++;
  }
  const sum = (of: 'planted' | 'gone'): number => kinds.reduce((total, row) => total + row[of], 0);
  return { planted: sum('planted'), gone: sum('gone'), kinds: kinds.filter(({ planted }) => planted > 0) };
}

function survives(text: string, value: string): boolean {
  const encoded = [0, 1, 2].some((shift) => {
    const core = Buffer.from(`${'x'.repeat(shift)}${value}`)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4);
    return core.length >= 12 && text.includes(core);
  });
  if (encoded) return true;
  const window = Math.min(8, value.length);
  for (let at = 0; at + window <= value.length; at++) if (text.includes(value.slice(at, at + window))) return true;
  return false;
}

/** Where a text can begin: in a JSON line its longest string that is no JSON itself, else its end. -1: nowhere. */
function placeIn(line: string): number {
  if (!/^\s*[{["]/.test(line)) return line.trim() === '' ? -1 : line.trimEnd().length;
  const b = Buffer.from(line, 'latin1');
  let best = -1;
  let longest = 0;
  for (let i = b.indexOf(34); i >= 0; i = b.indexOf(34, i)) {
    const end = stringEnd(b, i, b.length);
    if (end < 0) return -1;
    const isKey = /^\s*:/.test(line.slice(end, end + 20));
    if (!isKey && end - i > longest && !/^\s*[{[\\]/.test(line.slice(i + 1, i + 12)) && /\s/.test(line.slice(i, end))) {
      longest = end - i;
      best = i + 1;
    }
    i = end;
  }
  return best;
}

function maker(seed: string): Make {
  let pool = Buffer.alloc(0);
  let block = 0;
  return (alphabet, length) => {
    let out = '';
    for (let i = 0; i < length; i++) {
      if (pool.length === 0) pool = createHash('sha512').update(`${seed}#${block++}`).digest();
      out += alphabet[pool[0]! % alphabet.length]!;
      pool = pool.subarray(1);
    }
    return out;
  };
}
