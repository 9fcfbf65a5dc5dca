/**
 * The two passes over the bytes of one session. The first finds what must go and learns its values; the second finds these values
 * wherever else they stand, and puts stand-ins in their place. All bytes in between stay as they are.
 */

import { type JoinedText, joinDeltas } from './deltas.js';
import { isSharedUser } from './detect/people.js';
import { type Registry, STANDARD } from './detect/registry.js';
import type { TextView } from './detect/text-view.js';
import { CONTINUED, Pseudonyms } from './pseudonyms.js';
import { createScanner } from './scan/create-scanner.js';
import { type KnownValue, knownTables, PIECE } from './scan/known-values.js';
import { type ByteScanner, FIRST_LITERAL, Leaf, type ScanResult } from './scan/layout.js';
import { Leaves } from './scan/leaves.js';
import { PRIORITY, resolveSpans, type Span } from './span.js';

/** Where something is replaced, in bytes of the input. */
export interface Range {
  start: number;
  end: number;
  /** Number in `Pseudonyms`. */
  entity: number;
  certainty: Span['certainty'];
}

/** Texts up to this length are remembered, and how many. */
const MEMO_LENGTH = 256;
const MEMO_TEXTS = 20_000;

/** Shortest value of a family that is looked for outside the place it was found in. */
const MIN_LENGTH: Record<string, number> = { user: 4, person: 5, host: 5, password: 6 };
const PERSONAL = new Set([
  'user',
  'user-slug',
  'person',
  'host',
  'email',
  'ip',
  'ipv6',
  'mac',
  'phone',
  'card',
  'iban',
  'ssn',
  'serial',
  'account-id',
  'windows-sid',
]);

/** Scanners hold no state between two scans, and their tables are large. */
const scanners = new WeakMap<Registry, ByteScanner>();
function scannerOf(registry: Registry): ByteScanner {
  let scanner = scanners.get(registry);
  if (!scanner) {
    scanner = createScanner(registry.tables, null);
    scanners.set(registry, scanner);
  }
  return scanner;
}

export class SanitizeEngine {
  readonly pseudonyms: Pseudonyms;
  readonly #registry: Registry;
  readonly #scanner: ByteScanner;
  readonly #memo = new Map<string, readonly Span[]>();
  #known: { scanner: ByteScanner; entities: Int32Array } | null = null;

  constructor(pseudonyms = new Pseudonyms(), registry = STANDARD) {
    this.pseudonyms = pseudonyms;
    this.#registry = registry;
    this.#scanner = scannerOf(registry);
  }

  /** First pass over whole lines. */
  detect(input: Uint8Array, from = 0, to = input.length): Range[] {
    const spans: Span[] = [];
    const leaves = new Leaves(input);
    this.#scanner.scan(input, from, to, (result) => this.#detectIn(leaves, result, spans));
    for (const joined of joinDeltas(input, from, to)) this.#detectJoined(joined, spans);
    return this.#ranges(spans);
  }

  /** Gives the memory of the second pass back. */
  close(): void {
    this.#known?.scanner.close();
    this.#known = null;
  }

  /** Ends the first pass: stand-ins are numbered, and their values known to `replace`. */
  learn(): void {
    this.pseudonyms.number();
    const values: KnownValue[] = [];
    const entities: number[] = [];
    this.pseudonyms.entities().forEach(({ family, value }, entity) => {
      if (value.length < (MIN_LENGTH[family] ?? 8) || value.length < PIECE || value.length > 20_000) return;
      if (family === 'user-slug' || (family === 'user' && isSharedUser(value))) return;
      const bounded = PERSONAL.has(family) || value.length < 12 || !/\d/.test(value);
      values.push({ bytes: Buffer.from(value, 'latin1'), bounded });
      entities.push(entity);
    });
    this.#known?.scanner.close();
    this.#known =
      values.length === 0
        ? null
        : { scanner: createScanner(STANDARD.tables, knownTables(values)), entities: Int32Array.from(entities) };
  }

  /** Second pass over the same lines: what the first found there, and known values. */
  complete(input: Uint8Array, found: readonly Range[], from = 0, to = input.length): Range[] {
    if (!this.#known) return [...found];
    const { scanner, entities } = this.#known;
    const leaves = new Leaves(input);
    const spans: Span[] = [];
    scanner.scan(input, from, to, (result) => {
      leaves.read(result);
      for (let leaf = 0; leaf < leaves.count; leaf++) {
        const count = leaves.field(leaf, Leaf.candidates);
        for (let i = 0; i < count; i++) {
          const { family, value } = this.pseudonyms.entity(entities[leaves.anchor(leaf, i) - FIRST_LITERAL]!);
          const start = leaves.position(leaf, i);
          const certainty = PERSONAL.has(family) ? 'personal' : 'keyValue';
          this.#place(leaves, leaf, { start, end: start + value.length, family, certainty, value }, spans);
        }
      }
    });
    spans.sort((a, b) => a.start - b.start);
    let at = 0;
    const more = spans.filter(({ start, end }) => {
      while (at < found.length && found[at]!.end <= start) at++;
      return at >= found.length || found[at]!.start > start || found[at]!.end < end;
    });
    if (more.length === 0) return [...found];
    for (const { start, end, entity, certainty } of found) {
      const { family, value } = this.pseudonyms.entity(entity);
      more.push({ start, end, certainty, family, value });
    }
    const ranges = this.#ranges(more);
    this.pseudonyms.number();
    return ranges;
  }

  /** `input[from..to)` with the ranges replaced. */
  splice(input: Uint8Array, ranges: readonly Range[], from = 0, to = input.length): Buffer {
    let length = to - from;
    for (const { start, end, entity } of ranges)
      length += this.pseudonyms.entity(entity).placeholder.length - (end - start);
    const out = Buffer.allocUnsafeSlow(length);
    const source = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    let at = from;
    let written = 0;
    for (const { start, end, entity } of ranges) {
      written += source.copy(out, written, at, start);
      const found = this.pseudonyms.entity(entity);
      found.occurrences++;
      written += out.write(found.placeholder, written, 'latin1');
      at = end;
    }
    source.copy(out, written, at, to);
    return out;
  }

  #detectIn(leaves: Leaves, result: ScanResult, spans: Span[]): void {
    leaves.read(result);
    for (let leaf = 0; leaf < leaves.count; leaf++) {
      const count = leaves.field(leaf, Leaf.candidates);
      if (count === 0) continue;
      for (const span of this.#spansOf(leaves, leaf, count)) this.#place(leaves, leaf, span, spans);
    }
  }

  /** What the detectors find in one text; sessions say short things many times over. */
  #spansOf(leaves: Leaves, leaf: number, candidates: number): readonly Span[] {
    const text = leaves.text(leaf);
    const key = leaves.key(leaf);
    const escaped = leaves.escaped(leaf);
    const name = text.length <= MEMO_LENGTH ? `${escaped ? 'e' : ''}${key}\0${text}` : null;
    const known = name === null ? undefined : this.#memo.get(name);
    if (known) return known;
    let alone = true;
    const view: TextView = {
      text,
      key,
      escaped,
      spans: [],
      around: () => {
        alone = false;
        return leaves.around(leaf, 160);
      },
      reserve: (group, number) => this.pseudonyms.reserve(group, number),
      runFrom: -1,
      runTo: -1,
      refusedTo: -1,
    };
    const { detectors } = this.#registry;
    for (let i = 0; i < candidates; i++) detectors[leaves.anchor(leaf, i)]!(view, leaves.position(leaf, i));
    const found = resolveSpans(view.spans);
    if (name !== null && alone) {
      if (this.#memo.size >= MEMO_TEXTS) this.#memo.clear();
      this.#memo.set(name, found);
    }
    return found;
  }

  /** What lies in two pieces or more: the first gets the stand-in, the others nothing. */
  #detectJoined({ text, parts }: JoinedText, spans: Span[]): void {
    const found: Span[] = [];
    const leaves = new Leaves(text);
    this.#scanner.scan(text, 0, text.length, (result) => this.#detectIn(leaves, result, found));
    for (const span of resolveSpans(found)) {
      const pieces = parts(span.start, span.end);
      if (pieces.length < 2) continue;
      spans.push({ ...span, ...pieces[0]!, certainty: 'checksum' });
      for (const piece of pieces.slice(1))
        spans.push({ ...piece, family: CONTINUED, certainty: 'checksum', value: '' });
    }
  }

  /** A span of a leaf as one of the input; inside an encoded run the whole run. */
  #place(leaves: Leaves, leaf: number, span: Span, spans: Span[]): void {
    if (span.start < leaves.field(leaf, Leaf.ownFrom) || span.start >= leaves.field(leaf, Leaf.ownTo)) return;
    const start = leaves.start(leaf, span.start);
    const end = leaves.end(leaf, span.end);
    const run = leaves.run(leaf);
    if (run < 0) spans.push({ ...span, start, end });
    else spans.push({ start, end, family: 'encoded-secret', certainty: 'keyValue', value: leaves.runText(run) });
  }

  #ranges(spans: Span[]): Range[] {
    return resolveSpans(spans).map(({ start, end, family, certainty, value }) => ({
      start,
      end,
      certainty,
      entity: this.pseudonyms.of(family, value),
    }));
  }
}
export { PRIORITY };
