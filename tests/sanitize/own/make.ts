/** Invented values, made at run time: nothing that looks like a credential stands in the repository. */
import { createHash } from 'node:crypto';
import type { Random } from '../../engine/tokenizer/fuzz-random.js';

export const DIGITS = '0123456789';
export const LOWER = 'abcdefghijklmnopqrstuvwxyz';
export const UPPER = LOWER.toUpperCase();
export const HEX = `${DIGITS}abcdef`;
export const ALNUM = DIGITS + UPPER + LOWER;
export const BASE32 = `${UPPER}234567`;
const BASE64 = `${UPPER}${LOWER}${DIGITS}+/`;
const BASE64URL = `${UPPER}${LOWER}${DIGITS}-_`;
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

export interface Person {
  full: string;
  first: string;
  user: string;
  mail: string;
}

/** Full name and login. Some have letters outside ASCII, as people do. */
const PEOPLE: readonly (readonly [string, string])[] = [
  ['Zofia Wrońska', 'zwronska'],
  ['Bjørn Haugland', 'bhaugland'],
  ['Tomás Ibarra', 'tibarra'],
  ['Keiko Matsuda', 'kmatsuda'],
  ['Amara Nwosu', 'amara.nwosu'],
  ['Lukas Brandstätter', 'lbrandst'],
  ['Siobhan Keane', 'skeane'],
  ['Dmitri Volkonsky', 'dvolkonsky'],
  ['Farida Rahmani', 'frahmani'],
  ['Héloïse Garnier', 'hgarnier'],
  ['Jonas Petterson', 'jpetterson'],
  ['Mirela Ionescu', 'mionescu'],
];
const DOMAINS = [
  'northquay-labs.io',
  'helmsberg-soft.de',
  'tidewater-analytics.com',
  'fjordbyte.no',
  'quillmoor.co.uk',
];
const HOSTS = ['thinkpad-x13', 'LAPTOP-K3JQ8VXA', 'DESKTOP-9FQ2M1T', 'gpu-node-17', 'mbp-m3-office', 'nas-keller'];
const WORDS = [
  'Walnut',
  'Gletscher',
  'Papaya',
  'Krokus',
  'Velvet',
  'Saffron',
  'Moorhen',
  'Zephyr',
  'Bramble',
  'Copper',
];
/** Some words of the English BIP39 list. */
const SEED_WORDS =
  'abandon ability able absorb acoustic acquire adapt admit advice airport album alcohol anchor ancient antenna apple armor artist autumn balance bamboo banner basket beach believe blanket bridge bronze camera canyon castle cherry cinnamon citizen climb copper cradle cruise debris decade dolphin dragon eagle echo elbow ember engine fabric falcon fiction garlic gesture giraffe glimpse guitar harbor helmet hybrid icon igloo jacket jungle kangaroo kitten lantern lizard maple marble mimic nephew oak obscure orbit oyster panther pepper quantum rabbit ribbon saddle salmon tobacco tornado umbrella velvet viable walnut whisper zebra'.split(
    ' ',
  );

export class Make {
  readonly random: Random;
  constructor(random: Random) {
    this.random = random;
  }

  of(alphabet: string, length: number): string {
    let out = '';
    for (let i = 0; i < length; i++) out += alphabet[this.random.below(alphabet.length)];
    return out;
  }
  hex(length: number): string {
    return this.of(HEX, length);
  }
  alnum(length: number): string {
    return this.of(ALNUM, length);
  }
  base64(length: number): string {
    return this.of(BASE64, length);
  }
  base64url(length: number): string {
    return this.of(BASE64URL, length);
  }
  base32(length: number): string {
    return this.of(BASE32, length);
  }
  /** A number without a zero in front. */
  number(length: number): string {
    return this.of('123456789', 1) + this.of(DIGITS, length - 1);
  }
  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.random.below(256)));
  }
  uuid(): string {
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${this.of('89ab', 1)}${this.hex(3)}-${this.hex(12)}`;
  }
  /** Mixed case and digits certainly, for places that judge by looks. */
  opaque(length: number): string {
    return this.of(UPPER, 1) + this.alnum(length - 4) + this.of(DIGITS, 2) + this.of(LOWER, 1);
  }

  /** What a person types: a word, a number, a sign. */
  human(): string {
    return this.random.pick(WORDS) + this.number(3) + this.random.pick(['!', '#', '?', '']);
  }
  /** What a password manager makes, without characters that a shell or URL would quote. */
  strong(length = 18): string {
    return `${this.of(UPPER, 2)}${this.of(`${ALNUM}-_.`, length - 5)}${this.of(DIGITS, 2)}${this.of(LOWER, 1)}`;
  }
  /** With signs that get quoted and escaped in most places. */
  symbols(length = 16): string {
    return `${this.of(UPPER, 1)}${this.of(`${ALNUM}!%^&*#+=?~`, length - 4)}%${this.of(DIGITS, 1)}${this.of(LOWER, 1)}`;
  }

  jwt(payload: Record<string, unknown> = { sub: this.uuid(), iat: 1_767_225_600 }, alg = 'HS256'): string {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signature = this.bytes(alg === 'HS256' ? 32 : 256).toString('base64url');
    return `${part({ alg, typ: 'JWT' })}.${part(payload)}.${signature}`;
  }

  /** Lines of base64, the last one shorter and padded, the first as in real keys of this sort. */
  keyLines(first: string, lines: number, width = 64): string[] {
    const body = Array.from({ length: lines - 1 }, (_none, i) =>
      i === 0 ? first + this.base64(width - first.length) : this.base64(width),
    );
    return [...body, `${this.base64(38)}==`];
  }

  wif(): string {
    const payload = Buffer.concat([Buffer.from([0x80]), this.bytes(32), Buffer.from([1])]);
    const sha = (data: Buffer): Buffer => createHash('sha256').update(data).digest();
    let value = BigInt(`0x${Buffer.concat([payload, sha(sha(payload)).subarray(0, 4)]).toString('hex')}`);
    let out = '';
    for (; value > 0n; value /= 58n) out = BASE58[Number(value % 58n)] + out;
    return out;
  }

  /** `AGE-SECRET-KEY-1…` with the checksum of BIP 173. */
  ageKey(): string {
    const human = 'age-secret-key-';
    const words = Array.from({ length: 51 }, () => this.random.below(32));
    words.push(this.random.below(2) * 16);
    const codes = Array.from(human, (letter) => letter.charCodeAt(0));
    const all = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...words];
    const check = bech32Sum([...all, 0, 0, 0, 0, 0, 0]) ^ 1;
    const tail = Array.from({ length: 6 }, (_none, i) => (check >>> (5 * (5 - i))) & 31);
    return `${human}1${[...words, ...tail].map((word) => BECH32[word]).join('')}`.toUpperCase();
  }

  /** Twelve words; the last is not the checksum's, so each place must say what they are. */
  seedPhrase(count = 12): string {
    return Array.from({ length: count }, () => this.random.pick(SEED_WORDS)).join(' ');
  }

  person(): Person {
    const [full, user] = this.random.pick(PEOPLE);
    return { full, first: full.split(' ')[0]!, user, mail: `${user}@${this.random.pick(DOMAINS)}` };
  }
  domain(): string {
    return this.random.pick(DOMAINS);
  }
  host(): string {
    return this.random.pick(HOSTS);
  }
  ip(): string {
    const first = this.random.pick([23, 34, 51, 62, 81, 93, 109, 131, 151, 178, 185, 212]);
    return [first, 20 + this.random.below(200), 1 + this.random.below(250), 2 + this.random.below(250)].join('.');
  }
  privateIp(): string {
    const [b, c, d] = [16 + this.random.below(15), this.random.below(250), 2 + this.random.below(250)];
    return this.random.pick([`10.${b + 40}.${c}.${d}`, `172.${b}.${c}.${d}`, `192.168.${c}.${d}`]);
  }
  mac(separator = ':'): string {
    return ['3c', ...Array.from({ length: 5 }, () => this.hex(2))].join(separator);
  }
  card(prefix = '4539'): string {
    const body = prefix + this.of(DIGITS, 15 - prefix.length);
    let sum = 0;
    for (let i = 0; i < body.length; i++) {
      const digit = Number(body[body.length - 1 - i]) * (i % 2 === 0 ? 2 : 1);
      sum += digit > 9 ? digit - 9 : digit;
    }
    return body + String((10 - (sum % 10)) % 10);
  }
  iban(country: string, account: string): string {
    const digits = `${account}${country}00`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
    let rest = 0;
    for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
    return country + String(98 - rest).padStart(2, '0') + account;
  }
  ssn(): string {
    return `${this.of('1234567', 1)}${this.of('1234', 2)}-${this.of('1234567', 2)}-${this.number(4)}`;
  }
}

function bech32Sum(words: readonly number[]): number {
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  let sum = 1;
  for (const word of words) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    for (const [bit, generator] of generators.entries()) if ((top >>> bit) & 1) sum ^= generator;
  }
  return sum >>> 0;
}
