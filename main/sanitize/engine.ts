/**
 * The two passes over the bytes of one session. The first finds what must go and learns its values; the second finds these values
 * wherever else they stand, and puts stand-ins in their place. All bytes in between stay as they are.
 */

import { answersIn } from './answers.js';
import { DELTA_NAMES, type JoinedText, joinDeltas } from './deltas.js';
import { isSharedUser } from './detect/people.js';
import { type Registry, STANDARD } from './detect/registry.js';
import type { TextView } from './detect/text-view.js';
import { DROPPED_NAMES, droppedFields } from './dropped-fields.js';
import { CONTINUED, Pseudonyms } from './pseudonyms.js';
import { coverOf, Ranges, uncovered, united } from './ranges.js';
import { createScanner, scanAddon } from './scan/create-scanner.js';
import { nameTest } from './scan/index-of.js';
import { type KnownValue, knownTables, PIECE } from './scan/known-values.js';
import { type ByteScanner, FIRST_LITERAL, Leaf, type ScanResult, SEEN } from './scan/layout.js';
import { Leaves } from './scan/leaves.js';
import { SeenStrings } from './seen-strings.js';
import { PRIORITY, resolveSpans, type Span } from './span.js';

/** Texts up to this length are remembered, and how many. */
const MEMO_LENGTH = 96;
const MEMO_TEXTS = 20_000;
/** Sessions that are longer than this are likely to say the same again; strings are remembered from there on. */
const REMEMBER_AFTER = 1 << 20;

/** Fields that are looked at in the record, besides its strings. */
const holdsSpecialFields = nameTest([...DELTA_NAMES, ...DROPPED_NAMES]);

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

/** Scanners that number no strings hold no state between two scans, and their tables are large. */
const scanners = new WeakMap<Registry, ByteScanner>();
function scannerOf(registry: Registry): ByteScanner {
  let scanner = scanners.get(registry);
  if (!scanner) {
    scanner = createScanner(registry.tables, null);
    scanners.set(registry, scanner);
  }
  return scanner;
}

/** A scanner of the first or the second pass, with what it remembers of the strings of this session. */
interface Pass {
  scanner: ByteScanner;
  seen: SeenStrings | null;
}

export class SanitizeEngine {
  readonly pseudonyms: Pseudonyms;
  readonly #registry: Registry;
  readonly #memo = new Map<string, readonly Span[]>();
  #bytes = 0;
  /** Of its own where it remembers. */
  #first: Pass | null = null;
  #second: (Pass & { entities: Int32Array }) | null = null;
  /** A command was met whose whole output is private. */
  #asked = false;
  /** Whether what was found last depends on the text around its string. */
  #depends = false;

  /** `rememberAfter`: strings are remembered when the first pass has seen more bytes. */
  constructor(
    pseudonyms = new Pseudonyms(),
    registry = STANDARD,
    private readonly rememberAfter = REMEMBER_AFTER,
  ) {
    this.pseudonyms = pseudonyms;
    this.#registry = registry;
  }

  /** First pass over whole lines. */
  detect(input: Uint8Array, from = 0, to = input.length): Ranges {
    const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    const special = holdsSpecialFields(bytes, from, to);
    const joined = special ? joinDeltas(input, from, to) : [];
    const dropped = special ? droppedFields(input, from, to) : [];
    this.#asked = false;
    const found =
      joined.length + dropped.length === 0
        ? this.#detectStrings(input, from, to)
        : this.#detectWithJoined(input, from, to, joined, dropped);
    if (!this.#asked) return found;
    const answers = new Ranges();
    this.#settle(answersIn(input, from, to), answers);
    return united(found, answers);
  }

  /** Pieces of a text may overlap what was found in the strings that they are: all is looked at together. */
  #detectWithJoined(
    input: Uint8Array,
    from: number,
    to: number,
    joined: readonly JoinedText[],
    dropped: readonly Span[],
  ): Ranges {
    const spans: Span[] = [...dropped];
    const leaves = new Leaves(input);
    scannerOf(this.#registry).scan(input, from, to, (result) => this.#detectIn(leaves, result, spans));
    for (const one of joined) this.#detectJoined(one, spans);
    const out = new Ranges();
    this.#settle(spans, out);
    return out;
  }

  #detectStrings(input: Uint8Array, from: number, to: number): Ranges {
    const out = new Ranges();
    const leaves = new Leaves(input);
    const spans: Span[] = [];
    const { scanner, seen } = this.#firstPass(to - from);
    const look = (leaf: number, end: number): void => this.#detectLeaves(leaves, leaf, end, spans);
    const settle = (): void => this.#settle(spans, out);
    scanner.scan(input, from, to, (result) => {
      leaves.read(result);
      this.#inOrder(leaves, result, seen, look, settle, out);
    });
    settle();
    return out;
  }

  #firstPass(bytes: number): Pass {
    if (this.#first) return this.#first;
    this.#bytes += bytes;
    const shared = scannerOf(this.#registry);
    if (this.#bytes <= this.rememberAfter || !shared.remember) return { scanner: shared, seen: null };
    this.#first = remembering(createScanner(this.#registry.tables, null));
    return this.#first;
  }

  /** Gives every leaf to `look`, and those of a string that is remembered only once; `settle` ends what was looked at. */
  #inOrder(
    leaves: Leaves,
    { seen: events, seenCount = 0 }: ScanResult,
    seen: SeenStrings | null,
    look: (leaf: number, end: number) => void,
    settle: () => void,
    out: Ranges,
  ): void {
    let done = 0;
    if (seen && events)
      for (let i = 0; i < seenCount * SEEN; i += SEEN) {
        const string = events[i]!;
        const start = events[i + 1]!;
        const first = events[i + 2]!;
        if (first > done) look(done, first);
        settle();
        done = events[i + 3]!;
        if (seen.isKnown(string)) {
          seen.tell(string, start, out);
          continue;
        }
        const before = out.length;
        this.#depends = false;
        look(first, done);
        settle();
        out.sort(before);
        if (this.#depends) seen.everyTime(string);
        else seen.keep(string, out, before, out.length, start);
      }
    if (leaves.count > done) look(done, leaves.count);
  }

  /** Gives the memory back. */
  close(): void {
    this.#first?.scanner.close();
    this.#second?.scanner.close();
    this.#first = this.#second = null;
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
    this.#second?.scanner.close();
    this.#second = null;
    if (values.length === 0) return;
    const scanner = createScanner(STANDARD.tables, knownTables(values));
    const pass = this.#bytes > this.rememberAfter ? remembering(scanner) : { scanner, seen: null };
    this.#second = { ...pass, entities: Int32Array.from(entities) };
  }

  /** Second pass over the same lines: what the first found there, and known values. */
  complete(input: Uint8Array, found: Ranges, from = 0, to = input.length): Ranges {
    if (!this.#second) return found;
    const { scanner, seen } = this.#second;
    const leaves = new Leaves(input);
    const known = new Ranges();
    const encoded: Span[] = [];
    const look = (leaf: number, end: number): void => this.#knownIn(leaves, leaf, end, known, encoded);
    scanner.scan(input, from, to, (result) => {
      leaves.read(result);
      this.#inOrder(leaves, result, seen, look, () => undefined, known);
    });
    known.sort();
    const more = uncovered(known, found);
    const isCovered = coverOf(found);
    this.#settle(
      resolveSpans(encoded).filter(({ start, end }) => !isCovered(start, end)),
      more,
    );
    this.pseudonyms.number();
    return more.length === 0 ? found : united(found, more.sort());
  }

  /** `input[from..to)` with the ranges replaced. */
  splice(input: Uint8Array, ranges: Ranges, from = 0, to = input.length): Buffer {
    let length = to - from;
    for (let i = 0; i < ranges.length; i++) {
      const found = this.pseudonyms.entity(ranges.entity(i));
      found.occurrences++;
      length += found.placeholder.length - (ranges.end(i) - ranges.start(i));
    }
    const out = Buffer.allocUnsafeSlow(length);
    const addon = scanAddon();
    if (addon) {
      const { bytes, starts } = this.pseudonyms.standIns();
      addon.splice(input, from, to, ranges.numbers(), bytes, starts, out);
      return out;
    }
    const source = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    let at = from;
    let written = 0;
    for (let i = 0; i < ranges.length; i++) {
      written += source.copy(out, written, at, ranges.start(i));
      written += out.write(this.pseudonyms.entity(ranges.entity(i)).placeholder, written, 'latin1');
      at = ranges.end(i);
    }
    source.copy(out, written, at, to);
    return out;
  }

  #detectIn(leaves: Leaves, result: ScanResult, spans: Span[]): void {
    leaves.read(result);
    this.#detectLeaves(leaves, 0, leaves.count, spans);
  }

  #detectLeaves(leaves: Leaves, first: number, end: number, spans: Span[]): void {
    for (let leaf = first; leaf < end; leaf++) {
      const count = leaves.field(leaf, Leaf.candidates);
      if (count === 0) continue;
      for (const span of this.#spansOf(leaves, leaf, count)) this.#place(leaves, leaf, span, spans);
    }
  }

  #knownIn(leaves: Leaves, first: number, last: number, out: Ranges, encoded: Span[]): void {
    const { entities } = this.#second!;
    for (let leaf = first; leaf < last; leaf++) {
      const count = leaves.field(leaf, Leaf.candidates);
      for (let i = 0; i < count; i++) {
        const entity = entities[leaves.anchor(leaf, i) - FIRST_LITERAL]!;
        const { family, value } = this.pseudonyms.entity(entity);
        const at = leaves.position(leaf, i);
        if (at < leaves.field(leaf, Leaf.ownFrom) || at >= leaves.field(leaf, Leaf.ownTo)) continue;
        const start = leaves.start(leaf, at);
        const end = leaves.end(leaf, at + value.length);
        const run = leaves.run(leaf);
        const certainty = PERSONAL.has(family) ? 'personal' : 'keyValue';
        if (run < 0) out.push(start, end, entity, PRIORITY[certainty]);
        else {
          // It gets a stand-in of its own, once it is known that it is not replaced already.
          this.#depends = true;
          encoded.push({ start, end, family: 'encoded-secret', certainty: 'keyValue', value: leaves.runText(run) });
        }
      }
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
        if (leaves.field(leaf, Leaf.parent) < 0) this.#depends = true;
        return leaves.around(leaf, 160);
      },
      asks: () => {
        // Another time it prints something else, and elsewhere.
        alone = false;
        this.#depends = this.#asked = true;
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
    scannerOf(this.#registry).scan(text, 0, text.length, (result) => this.#detectIn(leaves, result, found));
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
    if (this.#registry.keep?.has(span.value)) return;
    const start = leaves.start(leaf, span.start);
    const end = leaves.end(leaf, span.end);
    const run = leaves.run(leaf);
    if (run < 0) spans.push({ ...span, start, end });
    else {
      const value = leaves.runText(run);
      if (!this.#registry.keep?.has(value))
        spans.push({ start, end, family: 'encoded-secret', certainty: 'keyValue', value });
    }
  }

  /** Takes the spans over as ranges. */
  #settle(spans: Span[], out: Ranges): void {
    if (spans.length === 0) return;
    for (const { start, end, family, certainty, value } of resolveSpans(spans))
      out.push(start, end, this.pseudonyms.of(family, value), PRIORITY[certainty]);
    spans.length = 0;
  }
}

function remembering(scanner: ByteScanner): Pass {
  const seen = new SeenStrings();
  return { scanner, seen: seen.attach(scanner) ? seen : null };
}
