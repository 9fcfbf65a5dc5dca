/** Notes while a session is cleaned what would put it back. */
import { createHash } from 'node:crypto';
import type { Pseudonyms } from '../pseudonyms.js';
import type { Ranges } from '../ranges.js';
import { Numbers } from './numbers.js';
import { CHANGE, HASH_LOW, hashOf, linesOf, type RestoreMap } from './restore-map.js';

/** A session whose changes take more keeps no map. */
const MAX_BYTES = 64 << 20;
const NEWLINE = 10;

export class MapRecorder {
  readonly #output = createHash('sha256');
  readonly #originals = new Map<string, number>();
  #originalBytes = 0;
  readonly #lines = new Numbers();
  /** Entity -> the original that says what it stands for. */
  readonly #meant = new Map<number, number>();
  /** By entity: what stood there last, and its number; nearly always it is the same again. */
  readonly #latest: ({ bytes: Buffer; number: number } | undefined)[] = [];
  #length = 0;
  /** The last line with changes, and how many times in a row it came. */
  #hash = -1;
  #changes: readonly number[] = [];
  #times = 0;

  /**
   * A piece of the input, its ranges, what came out of them, and what was given out in the end: lines in which these two differ were
   * changed once more or withheld.
   */
  piece(own: Buffer, ranges: Ranges, spliced: Buffer, clean: Buffer, pseudonyms: Pseudonyms): void {
    this.#length += own.length;
    this.#output.update(clean);
    if (this.#isTooMuch()) return;
    const changes = this.#changesOf(own, ranges, pseudonyms);
    this.#add(clean, clean === spliced ? changes : this.#withWholeLines(own, spliced, clean, changes));
  }

  /** sha256 of what was given out, and the map, if it is not too large. Call once, at the end. */
  finish(pseudonyms: Pseudonyms): { clean: string; map: RestoreMap | null; isEmpty: boolean } {
    this.#flush();
    const standIns = pseudonyms
      .entities()
      .map(({ placeholder, value }, entity) => [placeholder, this.#meaning(value, entity)] as const)
      .filter(([placeholder]) => placeholder !== '');
    const map = { length: this.#length, standIns, originals: [...this.#originals.keys()], lines: this.#lines };
    return {
      clean: this.#output.digest('hex'),
      map: this.#isTooMuch() ? null : map,
      isEmpty: this.#lines.length === 0,
    };
  }

  #isTooMuch(): boolean {
    return this.#lines.length + this.#originalBytes > MAX_BYTES;
  }

  /** What a stand-in is in an edited line: its value, or what stood there where it never stood alone (`key=…`, `%3D`). */
  #meaning(value: string, entity: number): string | number {
    return this.#originals.get(value) ?? this.#meant.get(entity) ?? value;
  }

  #originalOf(entity: number, own: Buffer, from: number, to: number): number {
    const latest = this.#latest[entity];
    if (latest !== undefined && standsAt(own, from, to, latest.bytes)) return latest.number;
    const number = this.#original(own, from, to);
    this.#latest[entity] = { bytes: Buffer.from(own.subarray(from, to)), number };
    // What holds a backslash or a quote was escaped as it must be where it stood.
    if (!this.#meant.has(entity) && !isEscaped(own, from, to)) this.#meant.set(entity, number);
    return number;
  }

  #original(bytes: Buffer, start: number, end: number): number {
    const text = bytes.toString('latin1', start, end);
    let number = this.#originals.get(text);
    if (number === undefined) {
      number = this.#originals.size;
      this.#originals.set(text, number);
      this.#originalBytes += text.length;
    }
    return number;
  }

  /** Of the spliced piece, three numbers each: start, end, original. */
  #changesOf(own: Buffer, ranges: Ranges, pseudonyms: Pseudonyms): number[] {
    const out: number[] = [];
    let moved = 0;
    for (let i = 0; i < ranges.length; i++) {
      const entity = ranges.entity(i);
      const { length } = pseudonyms.entity(entity).placeholder;
      const from = ranges.start(i);
      const to = ranges.end(i);
      out.push(from + moved, from + moved + length, this.#originalOf(entity, own, from, to));
      moved += length - (to - from);
    }
    return out;
  }

  /** Of `clean`: lines that are no longer as they were spliced are one change each. */
  #withWholeLines(own: Buffer, spliced: Buffer, clean: Buffer, changes: readonly number[]): number[] {
    const out: number[] = [];
    const inputs = linesOf(own);
    const before = linesOf(spliced);
    let next = 0;
    for (const [from, to] of linesOf(clean)) {
      const [inFrom, inTo] = inputs.next().value ?? [0, 0];
      const [oldFrom, oldTo] = before.next().value ?? [0, 0];
      const same = clean.subarray(from, to).equals(spliced.subarray(oldFrom, oldTo));
      for (; next < changes.length && changes[next]! <= oldTo; next += CHANGE)
        if (same) out.push(changes[next]! - oldFrom + from, changes[next + 1]! - oldFrom + from, changes[next + 2]!);
      if (!same) out.push(from, to, this.#original(own, inFrom, inTo));
    }
    return out;
  }

  #add(clean: Buffer, changes: readonly number[]): void {
    for (let i = 0; i < changes.length; ) {
      const start = changes[i]!;
      const from = start === 0 ? 0 : clean.lastIndexOf(NEWLINE, start - 1) + 1;
      const newline = clean.indexOf(NEWLINE, start);
      const to = newline < 0 ? clean.length : newline;
      const numbers: number[] = [];
      let at = from;
      for (; i < changes.length && changes[i]! <= to; i += CHANGE) {
        numbers.push(changes[i]! - at, changes[i + 1]! - changes[i]!, changes[i + 2]!);
        at = changes[i + 1]!;
      }
      this.#line(hashOf(clean, from, to), numbers);
    }
  }

  #line(hash: number, changes: readonly number[]): void {
    if (hash === this.#hash && isSame(changes, this.#changes)) {
      this.#times++;
      return;
    }
    this.#flush();
    this.#hash = hash;
    this.#changes = changes;
    this.#times = 1;
  }

  #flush(): void {
    if (this.#times === 0) return;
    const changes = this.#changes;
    this.#lines.push(Math.floor(this.#hash / HASH_LOW));
    this.#lines.push(this.#hash % HASH_LOW);
    this.#lines.push(this.#times);
    this.#lines.push(changes.length / CHANGE);
    for (const number of changes) this.#lines.push(number);
    this.#times = 0;
  }
}

function standsAt(bytes: Buffer, from: number, to: number, wanted: Buffer): boolean {
  if (to - from !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) if (bytes[from + i] !== wanted[i]) return false;
  return true;
}

function isEscaped(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === 0x5c || bytes[at] === 0x22) return true;
  return false;
}

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((number, i) => number === b[i]);
