/**
 * What puts the originals back into a cleaned session: what stood where in each line that was changed, and what each stand-in
 * stands for. Texts are bytes as latin1.
 */
import { z } from 'zod';
import { TackroomError } from '../../../contract/errors.js';
import { type Numbers, readNumbers } from './numbers.js';

export interface RestoreMap {
  /** Bytes of the input. */
  length: number;
  /** Stand-in, and what it stands for: a text, or the number of an original. */
  standIns: readonly (readonly [standIn: string, value: string | number])[];
  originals: readonly string[];
  /**
   * Changed lines: 21 and 32 bits of the hash of the cleaned one, how many times it came in a row, how many changes, and for each
   * change: bytes since the end of the last, length of what stands there now, number of the original.
   */
  lines: Numbers;
}

/** One change of a line, three numbers. */
export const CHANGE = 3;

const Head = z.strictObject({
  version: z.literal(1),
  length: z.int().nonnegative(),
  standIns: z.array(z.tuple([z.string().min(1), z.union([z.string(), z.int().nonnegative()])])),
  originals: z.array(z.string()),
});

export function encodeMap({ length, standIns, originals, lines }: RestoreMap): Buffer {
  const head = Buffer.from(JSON.stringify({ version: 1, length, standIns, originals }));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(head.length);
  return Buffer.concat([size, head, lines.bytes()]);
}

export interface OpenedMap {
  length: number;
  standIns: ReadonlyMap<string, string>;
  originals: readonly string[];
  /** Hash of a cleaned line -> changes of the lines that look so: times in a row, changes. */
  lines: ReadonlyMap<number, readonly (readonly [times: number, changes: readonly number[]])[]>;
}

/** Errors: VAULT_DAMAGED. */
export function decodeMap(bytes: Buffer): OpenedMap {
  try {
    const end = 4 + bytes.readUInt32LE(0);
    const { length, standIns, originals } = Head.parse(JSON.parse(bytes.toString('utf8', 4, end)));
    const values = standIns.map(([standIn, value]) => [standIn, textOf(value, originals)] as const);
    return { length, standIns: new Map(values), originals, lines: decodeLines(bytes.subarray(end)) };
  } catch (cause) {
    throw new TackroomError('VAULT_DAMAGED', 'The map is damaged, so nothing is put back.', undefined, { cause });
  }
}

function textOf(value: string | number, originals: readonly string[]): string {
  const text = typeof value === 'string' ? value : originals[value];
  if (text === undefined) throw new RangeError(`There is no original ${value}.`);
  return text;
}

function decodeLines(bytes: Buffer): OpenedMap['lines'] {
  const lines = new Map<number, [number, readonly number[]][]>();
  const numbers = readNumbers(bytes);
  for (let at = 0; at < numbers.length; ) {
    const hash = numbers[at]! * HASH_LOW + numbers[at + 1]!;
    const record: [number, readonly number[]] = [
      numbers[at + 2]!,
      numbers.slice(at + 4, at + 4 + numbers[at + 3]! * CHANGE),
    ];
    at += 4 + numbers[at + 3]! * CHANGE;
    const known = lines.get(hash);
    if (known) known.push(record);
    else lines.set(hash, [record]);
  }
  return lines;
}

const NEWLINE = 10;

/** Where the lines begin and end, without what ends them; the last may be empty. */
export function* linesOf(bytes: Buffer): Generator<readonly [from: number, to: number]> {
  for (let from = 0; from <= bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, from);
    const to = newline < 0 ? bytes.length : newline;
    yield [from, to];
    from = to + 1;
  }
}

export const HASH_LOW = 0x100000000;

/** 53 bits. It tells lines of one session apart; it keeps nothing secret. */
export function hashOf(bytes: Buffer, from: number, to: number): number {
  let a = 0x9e3779b1 ^ (to - from);
  let b = 0x85ebca6b;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    a = Math.imul(a ^ word, 0xcc9e2d51);
    a ^= a >>> 15;
    b = Math.imul(b + word, 0x1b873593) ^ (b >>> 13);
  }
  for (; at < to; at++) {
    a = Math.imul(a ^ bytes[at]!, 0xcc9e2d51);
    b = Math.imul(b + bytes[at]!, 0x1b873593) ^ (b >>> 13);
  }
  a = Math.imul(a ^ (a >>> 16), 0xe6546b64);
  b = Math.imul(b ^ (b >>> 15), 0x2545f491);
  return (b & 0x1fffff) * HASH_LOW + ((a ^ (b >>> 11)) >>> 0);
}
