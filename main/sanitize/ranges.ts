/** Places in an input, in flat numbers: a long session has millions of them. */
import { type Certainty, PRIORITY } from './span.js';

const FIELDS = 4;
const FIRST_ROOM = 64;
/** By their numbers in PRIORITY. */
const CERTAINTIES: Certainty[] = [];
for (const [name, number] of Object.entries(PRIORITY)) CERTAINTIES[number] = name as Certainty;

/** In order, and not overlapping unless said otherwise. */
export class Ranges {
  #numbers = new Int32Array(FIRST_ROOM * FIELDS);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** `entity`: number in `Pseudonyms`; `certainty`: number in PRIORITY. */
  push(start: number, end: number, entity: number, certainty: number): void {
    let at = this.#length * FIELDS;
    if (at === this.#numbers.length) this.#grow();
    this.#numbers[at++] = start;
    this.#numbers[at++] = end;
    this.#numbers[at++] = entity;
    this.#numbers[at] = certainty;
    this.#length++;
  }

  /** Those of `from` that lie at [first, last), moved by `by`. */
  pushSome(from: Ranges, first: number, last: number, by: number): void {
    while ((this.#length + last - first) * FIELDS > this.#numbers.length) this.#grow();
    const numbers = from.#numbers;
    const to = this.#numbers;
    let at = this.#length * FIELDS;
    for (let i = first * FIELDS; i < last * FIELDS; i += FIELDS) {
      to[at] = numbers[i]! + by;
      to[at + 1] = numbers[i + 1]! + by;
      to[at + 2] = numbers[i + 2]!;
      to[at + 3] = numbers[i + 3]!;
      at += FIELDS;
    }
    this.#length += last - first;
  }

  start(i: number): number {
    return this.#numbers[i * FIELDS]!;
  }

  end(i: number): number {
    return this.#numbers[i * FIELDS + 1]!;
  }

  entity(i: number): number {
    return this.#numbers[i * FIELDS + 2]!;
  }

  rank(i: number): number {
    return this.#numbers[i * FIELDS + 3]!;
  }

  certainty(i: number): Certainty {
    return CERTAINTIES[this.rank(i)]!;
  }

  *places(): Generator<{ start: number; end: number }> {
    for (let i = 0; i < this.#length; i++) yield { start: this.start(i), end: this.end(i) };
  }

  /** All of them, four numbers each: start, end, entity, certainty. */
  numbers(): Int32Array {
    return this.#numbers.subarray(0, this.#length * FIELDS);
  }

  /** Without room to grow. */
  compact(): this {
    this.#numbers = this.#numbers.slice(0, Math.max(this.#length, 1) * FIELDS);
    return this;
  }

  /** Those that begin within [from, to), ended there at the latest, moved by `by`. */
  within(from: number, to: number, by = 0): Ranges {
    const all = this.#length === 0 || (this.start(0) >= from && this.end(this.#length - 1) <= to);
    if (all && by === 0) return this;
    const out = new Ranges();
    for (let i = 0; i < this.#length; i++) {
      const start = this.start(i);
      if (start >= from && start < to)
        out.push(start + by, Math.min(this.end(i), to) + by, this.entity(i), this.rank(i));
    }
    return out;
  }

  /**
   * Adds one that does not begin before the last: where they overlap, the higher certainty wins, then the longer, then the later; as
   * `resolveSpans`.
   */
  merge(start: number, end: number, entity: number, rank: number): void {
    const at = (this.#length - 1) * FIELDS;
    const last = this.#numbers;
    if (this.#length === 0 || start >= last[at + 1]!) {
      this.push(start, end, entity, rank);
      return;
    }
    const better = rank - last[at + 3]!;
    if (better > 0 || (better === 0 && start === last[at] && end === last[at + 1])) {
      last[at + 2] = entity;
      last[at + 3] = rank;
    }
    if (end > last[at + 1]!) last[at + 1] = end;
  }

  /** Sorts those from `first` on by where they begin, the longer first. */
  sort(first = 0): this {
    let at = first + 1;
    while (at < this.#length && this.#before(at - 1, at) <= 0) at++;
    if (at >= this.#length) return this;
    const order = Array.from({ length: this.#length - first }, (_, i) => first + i);
    order.sort((a, b) => this.#before(a, b) || a - b);
    const old = this.#numbers.slice(first * FIELDS, this.#length * FIELDS);
    order.forEach((from, to) => {
      const at = (from - first) * FIELDS;
      this.#numbers.set(old.subarray(at, at + FIELDS), (first + to) * FIELDS);
    });
    return this;
  }

  #before(a: number, b: number): number {
    return this.start(a) - this.start(b) || this.end(b) - this.end(a);
  }

  #grow(): void {
    const old = this.#numbers;
    this.#numbers = new Int32Array(old.length * 2);
    this.#numbers.set(old);
  }
}

/** Those that do not lie within one of `found`; both in order. */
export function uncovered(ranges: Ranges, found: Ranges): Ranges {
  const out = new Ranges();
  const isCovered = coverOf(found);
  for (let i = 0; i < ranges.length; i++)
    if (!isCovered(ranges.start(i), ranges.end(i)))
      out.push(ranges.start(i), ranges.end(i), ranges.entity(i), ranges.rank(i));
  return out;
}

/** Whether a place lies within one of `found`; asked in order of where the places begin. */
export function coverOf(found: Ranges): (start: number, end: number) => boolean {
  let at = 0;
  return (start, end) => {
    while (at < found.length && found.end(at) <= start) at++;
    return at < found.length && found.start(at) <= start && found.end(at) >= end;
  };
}

/** Both in one; where they overlap the better counts. */
export function united(found: Ranges, more: Ranges): Ranges {
  const out = new Ranges();
  let at = 0;
  for (let i = 0; i < more.length; i++) {
    const start = more.start(i);
    for (
      ;
      at < found.length && (found.start(at) < start || (found.start(at) === start && found.end(at) >= more.end(i)));
      at++
    )
      out.merge(found.start(at), found.end(at), found.entity(at), found.rank(at));
    out.merge(start, more.end(i), more.entity(i), more.rank(i));
  }
  for (; at < found.length; at++) out.merge(found.start(at), found.end(at), found.entity(at), found.rank(at));
  return out;
}
