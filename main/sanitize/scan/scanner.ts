/**
 * The byte scanner, TypeScript body: finds the strings of JSON lines, reads their escapes, looks into JSON and encodings inside
 * them, and reports where detectors should look. native/src/scan does the same faster; both give the same numbers.
 */
import { decode } from './decode.js';
import { Bytes, Ints } from './growable.js';
import { isJson, stringEnd } from './json-check.js';
import type { KnownValues } from './known-values.js';
import {
  AnchorFlag,
  BREAKPOINT,
  type ByteScanner,
  CANDIDATE,
  FIELDS,
  FIRST_LITERAL,
  Leaf,
  Limits,
  Probe,
  type ScanResult,
  type Tables,
  View,
} from './layout.js';
import {
  CLASS,
  decodeBase64,
  decodeHex,
  isAlnum,
  isBase64,
  isDigits,
  isHex,
  isHexTriple,
  isIban,
  isIpv4,
  isIpv6,
  isMac,
  isPhone,
} from './probes.js';

interface Key {
  /** Range of the undecoded key in its text; `from` < 0: none. */
  source: number;
  from: number;
  to: number;
}
const NO_KEY: Key = { source: 0, from: -1, to: -1 };
const NAMES = ['name', 'key', 'Name', 'Key'].map((name) => Buffer.from(name));
const VALUES = ['value', 'Value', 'val', 'text'].map((name) => Buffer.from(name));

export class TypeScriptScanner implements ByteScanner {
  readonly #tables: Tables;
  readonly #known: KnownValues | null;
  #input: Uint8Array = new Uint8Array(0);
  readonly #arena = new Bytes();
  readonly #leaves = new Ints();
  readonly #candidates = new Ints();
  readonly #maps = new Ints();
  #sink: (result: ScanResult) => void = () => undefined;

  /** With `known` only these values are looked for; else the anchors of `tables`. */
  constructor(tables: Tables, known: KnownValues | null = null) {
    this.#tables = tables;
    this.#known = known;
  }

  scan(input: Uint8Array, from: number, to: number, sink: (result: ScanResult) => void): void {
    this.#input = input;
    this.#sink = sink;
    // A sink that threw left what it did not take.
    this.#reset();
    let text = -1;
    for (let line = from; line < to; ) {
      let end = input.indexOf(10, line);
      if (end < 0 || end > to) end = to;
      const json = this.#startsJson(input, line, end) && isJson(input, skipMark(input, line, end), end);
      if (json) {
        if (text >= 0) this.#segment(text, line);
        text = -1;
        this.#walk(0, skipMark(input, line, end), end, -1, 0, 0);
        this.#flush(Limits.arena);
      } else if (text < 0) text = line;
      line = end + 1;
    }
    if (text >= 0) this.#segment(text, to);
    this.#flush(0);
  }

  close(): void {
    this.#reset();
    this.#input = new Uint8Array(0);
  }

  #flush(unless: number): void {
    if (this.#arena.length < unless && this.#candidates.length < unless >> 4) return;
    if (this.#leaves.length > 0)
      this.#sink({
        leaves: this.#leaves.values,
        leafCount: this.#leaves.length / FIELDS,
        candidates: this.#candidates.values,
        maps: this.#maps.values,
        arena: this.#arena.bytes,
      });
    this.#reset();
  }

  #reset(): void {
    this.#leaves.length = 0;
    this.#candidates.length = 0;
    this.#maps.length = 0;
    this.#arena.length = 0;
  }

  #startsJson(b: Uint8Array, from: number, to: number): boolean {
    let i = skipMark(b, from, to);
    while (i < to && (b[i] === 32 || b[i] === 9 || b[i] === 13)) i++;
    return i < to && (b[i] === 123 || b[i] === 91 || b[i] === 34);
  }

  #bytes(source: number): Uint8Array {
    return source === 0 ? this.#input : this.#arena.bytes;
  }

  /** Plain text. */
  #segment(from: number, to: number): void {
    this.#windows(0, from, to, -1, 0, NO_KEY, 0);
    this.#flush(Limits.arena);
  }

  /** Strings of a text that is JSON; `shift` leads from its positions to those of `parent`. Whether any leaf was kept. */
  #walk(source: number, from: number, to: number, parent: number, shift: number, depth: number): boolean {
    const objects: number[] = [];
    let object = false;
    let wantKey = false;
    let key = NO_KEY;
    let element = NO_KEY;
    let name = NO_KEY;
    let nameDepth = -1;
    let kept = false;
    for (let i = from; i < to; ) {
      const b = this.#bytes(source);
      const c = b[i]!;
      if (c !== 34) {
        if (c === 123 || c === 91) {
          objects.push(object ? 1 : 0);
          object = wantKey = c === 123;
          element = NO_KEY;
          if (object) key = NO_KEY;
        } else if (c === 125 || c === 93) {
          object = objects.pop() === 1;
          wantKey = false;
          if (nameDepth > objects.length) nameDepth = -1;
        } else if (c === 44) wantKey = object;
        i++;
        continue;
      }
      const end = stringEnd(b, i, to);
      const at = i + 1;
      i = end;
      if (wantKey) {
        key = { source, from: at, to: end - 1 };
        wantKey = false;
        if (this.#string(source, at, end - 1, parent, shift, NO_KEY, depth)) kept = true;
        continue;
      }
      let of = key;
      if (object && nameDepth === objects.length && oneOf(VALUES, b, key)) of = name;
      else if (!object && element.from >= 0) of = element;
      if (this.#string(source, at, end - 1, parent, shift, of, depth)) kept = true;
      if (object) {
        if (oneOf(NAMES, b, key)) {
          name = { source, from: at, to: end - 1 };
          nameDepth = objects.length;
        }
      } else element = this.#bytes(source)[at] === 45 ? { source, from: at, to: end - 1 } : NO_KEY;
      if (parent < 0) {
        this.#flush(Limits.arena);
      }
    }
    return kept;
  }

  /** One JSON string, quotes left out. */
  #string(source: number, from: number, to: number, parent: number, shift: number, key: Key, depth: number): boolean {
    const b = this.#bytes(source);
    let escaped = false;
    for (let i = from; i < to && !escaped; i++) escaped = b[i] === 92;
    if (escaped) return this.#windows(source, from, to, parent, shift, key, depth, View.json);
    return this.#windows(source, from, to, parent, shift, key, depth);
  }

  /** A string or plain text, in windows where it is long. `view`: read its escapes. */
  #windows(
    source: number,
    from: number,
    to: number,
    parent: number,
    shift: number,
    key: Key,
    depth: number,
    view = 0,
  ): boolean {
    let kept = false;
    let own = 0;
    for (let at = from; ; ) {
      const arena = this.#arena.length;
      const maps = this.#maps.length;
      const leaf = this.#leaf(parent, key);
      const values = this.#leaves.values;
      const o = leaf * FIELDS;
      let next: number;
      let again = 0;
      if (view === 0) {
        next = Math.min(to, at + Limits.window);
        again = next - Limits.overlap;
        values[o + Leaf.source] = source;
        values[o + Leaf.start] = at;
        values[o + Leaf.length] = next - at;
        values[o + Leaf.shift] = at + shift;
      } else {
        values[o + Leaf.source] = 1;
        const text = this.#arena.length;
        values[o + Leaf.start] = text;
        values[o + Leaf.mapStart] = this.#maps.length;
        next = decode(view, this.#bytes(source), at, to, shift, Limits.window, {
          arena: this.#arena,
          maps: this.#maps,
        });
        values[o + Leaf.length] = this.#arena.length - text;
        values[o + Leaf.mapCount] = (this.#maps.length - values[o + Leaf.mapStart]!) / BREAKPOINT;
        values[o + Leaf.views] = View.json;
        if (next < to)
          again = this.#parentOf(values[o + Leaf.length]! - Limits.overlap, values[o + Leaf.mapStart]!) - shift;
      }
      const length = values[o + Leaf.length]!;
      const last = next >= to;
      values[o + Leaf.ownFrom] = own;
      values[o + Leaf.ownTo] = last ? length : length - Limits.overlap / 2;
      const whole = at === from && last;
      if (this.#content(leaf, whole ? depth : Limits.nesting, 0)) kept = true;
      else this.#drop(leaf, arena, maps);
      if (last) return kept;
      at = again;
      own = Limits.overlap / 2;
      if (parent < 0) this.#flush(Limits.arena);
    }
  }

  /** Position of the parent for `position` of the text whose breakpoints are the last ones, from `maps` on. */
  #parentOf(position: number, maps: number): number {
    const { values, length } = this.#maps;
    let at = length - BREAKPOINT;
    while (at > maps && values[at]! > position) at -= BREAKPOINT;
    return values[at + 1]! + position - values[at]!;
  }

  #leaf(parent: number, key: Key): number {
    const at = this.#leaves.push(FIELDS);
    const { values } = this.#leaves;
    values.fill(0, at, at + FIELDS);
    values[at + Leaf.parent] = parent;
    values[at + Leaf.firstCandidate] = this.#candidates.length / CANDIDATE;
    if (key.from >= 0) {
      const start = this.#arena.length;
      this.#arena.reserve(Math.min(key.to - key.from, 256) + 4);
      const maps = this.#maps.length;
      decode(View.json, this.#bytes(key.source), key.from, key.to, 0, 256, { arena: this.#arena, maps: this.#maps });
      this.#maps.length = maps;
      this.#leaves.values[at + Leaf.keyStart] = start;
      this.#leaves.values[at + Leaf.keyLength] = this.#arena.length - start;
    }
    return at / FIELDS;
  }

  #drop(leaf: number, arena: number, maps: number): void {
    this.#leaves.length = leaf * FIELDS;
    this.#arena.length = arena;
    this.#maps.length = maps;
  }

  /** JSON inside, or text. Whether there is anything to look at. */
  #content(leaf: number, depth: number, views: number): boolean {
    const o = leaf * FIELDS;
    const { values } = this.#leaves;
    const source = values[o + Leaf.source]!;
    const from = values[o + Leaf.start]!;
    const to = from + values[o + Leaf.length]!;
    const b = this.#bytes(source);
    if (depth < Limits.nesting && this.#startsJson(b, from, to) && isJson(b, from, to))
      return this.#walk(source, from, to, leaf, -from, depth + 1);
    return this.#text(leaf, depth, views);
  }

  #text(leaf: number, depth: number, views: number): boolean {
    const o = leaf * FIELDS;
    const first = this.#candidates.length;
    const source = this.#leaves.values[o + Leaf.source]!;
    const from = this.#leaves.values[o + Leaf.start]!;
    const to = from + this.#leaves.values[o + Leaf.length]!;
    const b = this.#bytes(source);
    const keyLength = this.#leaves.values[o + Leaf.keyLength]!;
    if (keyLength > 0 && this.#known === null) this.#keyWords(o, keyLength);
    const seen = this.#known ? this.#knownIn(b, from, to) : this.#anchors(b, from, to);
    this.#leaves.values[o + Leaf.candidates] = (this.#candidates.length - first) / CANDIDATE;
    let kept = this.#candidates.length > first;
    if (this.#encodedRuns(leaf, source, from, to, depth, views)) kept = true;
    if (views < (to - from > Limits.longText ? 1 : Limits.views) && seen !== 0) {
      for (const view of [View.clean, View.unescaped, View.percent, View.entities]) {
        if ((seen & view) === 0) continue;
        this.#leaves.values[o + Leaf.seenAs] = this.#leaves.values[o + Leaf.seenAs]! | view;
        if (this.#view(leaf, source, from, to, view, depth, views + 1)) kept = true;
      }
    }
    return kept;
  }

  #view(parent: number, source: number, from: number, to: number, view: number, depth: number, views: number): boolean {
    const arena = this.#arena.length;
    const maps = this.#maps.length;
    const leaf = this.#leaf(parent, NO_KEY);
    const o = leaf * FIELDS;
    this.#copyKey(o, parent);
    const start = this.#arena.length;
    decode(view, this.#bytes(source), from, to, -from, to - from + 4, { arena: this.#arena, maps: this.#maps });
    const { values } = this.#leaves;
    values[o + Leaf.source] = 1;
    values[o + Leaf.start] = start;
    values[o + Leaf.length] = this.#arena.length - start;
    values[o + Leaf.ownTo] = values[o + Leaf.length]!;
    values[o + Leaf.mapStart] = maps;
    values[o + Leaf.mapCount] = (this.#maps.length - maps) / BREAKPOINT;
    values[o + Leaf.views] = values[parent * FIELDS + Leaf.views]! | view;
    if (this.#content(leaf, depth, views)) return true;
    this.#drop(leaf, arena, maps);
    return false;
  }

  #copyKey(o: number, parent: number): void {
    const { values } = this.#leaves;
    values[o + Leaf.keyStart] = values[parent * FIELDS + Leaf.keyStart]!;
    values[o + Leaf.keyLength] = values[parent * FIELDS + Leaf.keyLength]!;
  }

  /** Runs of base64 or hex that say something readable, each as a leaf of its own. */
  #encodedRuns(parent: number, source: number, from: number, to: number, depth: number, views: number): boolean {
    if (depth >= Limits.nesting) return false;
    let kept = false;
    for (let i = from; i < to; ) {
      const b = this.#bytes(source);
      if (!isBase64(b[i]!)) {
        i++;
        continue;
      }
      let end = i;
      let hexOnly = true;
      while (end < to && isBase64(b[end]!)) {
        if (!isHex(b[end]!)) hexOnly = false;
        end++;
      }
      const start = i;
      i = end;
      if (end - start < Limits.encodedMin || end - start > Limits.encodedMax) continue;
      const arena = this.#arena.length;
      this.#arena.reserve(end - start);
      const { bytes } = this.#arena;
      const text = this.#bytes(source);
      let length = decodeBase64(text, start, end, bytes, arena);
      if (length < 0 && hexOnly && (end - start) % 2 === 0) length = decodeHex(text, start, end, bytes, arena);
      if (length < 12) continue;
      while (end < to && end < i + 2 && b[end] === 61) end++;
      this.#arena.length = arena + length;
      const maps = this.#maps.length;
      const leaf = this.#leaf(parent, NO_KEY);
      const { values } = this.#leaves;
      const o = leaf * FIELDS;
      values[o + Leaf.source] = 1;
      values[o + Leaf.start] = arena;
      values[o + Leaf.length] = length;
      values[o + Leaf.ownTo] = length;
      values[o + Leaf.shift] = start - from;
      values[o + Leaf.whole] = end - start;
      values[o + Leaf.views] = values[parent * FIELDS + Leaf.views]! | View.encoded;
      if (this.#content(leaf, depth + 1, views)) kept = true;
      else this.#drop(leaf, arena, maps);
    }
    return kept;
  }

  #candidate(position: number, anchor: number): void {
    const at = this.#candidates.push(CANDIDATE);
    this.#candidates.values[at] = position;
    this.#candidates.values[at + 1] = anchor;
  }

  /** Marks the leaf when its key is a name of secrets or of personal data. */
  #keyWords(o: number, length: number): void {
    const from = this.#leaves.values[o + Leaf.keyStart]!;
    let flags = length <= 2 ? AnchorFlag.secretKey : 0;
    this.#match(this.#arena.bytes, from, from + length, (anchor) => {
      flags |= this.#tables.flags[anchor]!;
    });
    if (flags & AnchorFlag.secretKey) this.#candidate(0, Probe.keyValue);
    if (flags & AnchorFlag.personKey) this.#candidate(0, Probe.keyPerson);
  }

  /** Calls `found` for every anchor in the text, by where it ends. */
  #match(b: Uint8Array, from: number, to: number, found: (anchor: number, start: number) => void): void {
    const { classes, columns, next, outputStart, outputs, lengths, flags, literals, literalStart } = this.#tables;
    let state = 0;
    for (let i = from; i < to; i++) {
      state = next[state * columns + classes[b[i]!]!]!;
      const end = outputStart[state + 1]!;
      for (let k = outputStart[state]!; k < end; k++) {
        const anchor = outputs[k]!;
        const start = i + 1 - lengths[anchor]!;
        const flag = flags[anchor]!;
        if (flag & AnchorFlag.start && start > from && isAlnum(b[start - 1]!)) continue;
        if (flag & AnchorFlag.exactCase) {
          let same = literalStart[anchor]!;
          let at = start;
          while (at <= i && b[at] === literals[same]) {
            at++;
            same++;
          }
          if (at <= i) continue;
        }
        found(anchor, start);
      }
    }
  }

  /** Candidates of a text, and the views it should be seen in. */
  #anchors(b: Uint8Array, from: number, to: number): number {
    this.#match(b, from, to, (anchor, start) => {
      if ((this.#tables.flags[anchor]! & AnchorFlag.personKey) === 0)
        this.#candidate(start - from, FIRST_LITERAL + anchor);
    });
    let seen = 0;
    let before = 0;
    for (let i = from; i < to; i++) {
      const c = b[i]!;
      const starts = CLASS[before] === 0;
      before = c;
      const kind = CLASS[c]!;
      if (kind !== 0) {
        if (!starts) continue;
        if (kind & 1) {
          if (isIpv4(b, i, to)) this.#candidate(i - from, Probe.ipv4);
          else if (isDigits(b, i, to)) this.#candidate(i - from, Probe.digits);
        } else if (c < 91 && isIban(b, i, to)) this.#candidate(i - from, Probe.iban);
        if (kind & 2) {
          if (isHexTriple(b, i, to)) this.#candidate(i - from, Probe.hexTriple);
          if (isMac(b, i, to)) this.#candidate(i - from, Probe.mac);
          else if (hasColon(b, i, to) && isIpv6(b, i, to)) this.#candidate(i - from, Probe.ipv6);
        }
      } else if (c === 43) {
        if (isPhone(b, i, to)) this.#candidate(i - from, Probe.phone);
      } else seen |= viewsOf(b, i, to);
    }
    return seen;
  }

  #knownIn(b: Uint8Array, from: number, to: number): number {
    this.#known!.find(b, from, to, (position, value) => {
      this.#candidate(position - from, FIRST_LITERAL + value);
    });
    let seen = 0;
    for (let i = from; i < to; i++) if (CLASS[b[i]!] === 0) seen |= viewsOf(b, i, to);
    return seen;
  }
}

/** A colon within the next five bytes. */
function hasColon(b: Uint8Array, at: number, to: number): boolean {
  for (let i = at; i < to && i < at + 5; i++) if (b[i] === 58) return true;
  return false;
}

/** Views that the byte at `at` calls for. */
function viewsOf(b: Uint8Array, at: number, to: number): number {
  const c = b[at]!;
  const d = at + 1 < to ? b[at + 1]! : 0;
  if (c === 92)
    return d === 34 ||
      d === 39 ||
      d === 92 ||
      d === 47 ||
      d === 110 ||
      d === 114 ||
      d === 116 ||
      d === 117 ||
      d === 120 ||
      d === 101 ||
      d === 48
      ? View.unescaped
      : 0;
  if (c === 27) return View.clean;
  if (c === 37) return isHex(d) && at + 2 < to && isHex(b[at + 2]!) ? View.percent : 0;
  if (c === 38) return d === 35 || (CLASS[d]! & 4) !== 0 ? entityHere(b, at, to) : 0;
  if (c === 0xe2) return d === 0x80 || d === 0x81 ? View.clean : 0;
  if (c === 0xc2) return d === 0xad ? View.clean : 0;
  return c === 0xef && d === 0xbb ? View.clean : 0;
}

/** `&` and a `;` within eight bytes. */
function entityHere(b: Uint8Array, at: number, to: number): number {
  for (let i = at + 2; i < to && i < at + 8; i++) if (b[i] === 59) return View.entities;
  return 0;
}

/** Past a byte order mark. */
function skipMark(b: Uint8Array, from: number, to: number): number {
  return to - from >= 3 && b[from] === 0xef && b[from + 1] === 0xbb && b[from + 2] === 0xbf ? from + 3 : from;
}

function oneOf(names: readonly Uint8Array[], b: Uint8Array, key: Key): boolean {
  return names.some((name) => {
    if (key.to - key.from !== name.length) return false;
    for (let i = 0; i < name.length; i++) if (b[key.from + i] !== name[i]) return false;
    return true;
  });
}
