/** One record of a review as it is shown: its texts in parts, on both sides, long ones cut and the cut counted. */
import {
  type CleanField,
  type CleanRecord,
  FOLDED_TEXT,
  MAX_FIELDS,
  type TextPart,
  WHOLE_TEXT,
} from '../../../contract/clean-calls.js';
import { type RecordString, stringsOf, textOf } from './record-strings.js';
import type { Review } from './review.js';

const FOLDED_FIELDS = 30;
const FOLDED_PLACES = 60;
/** Of records in which nothing was found. */
const PLAIN_FIELDS = 4;

interface Place {
  place: number;
  start: number;
  end: number;
  kind: number;
  /** What stands in the copy. */
  standIn: string;
}

export function recordView(lines: readonly Buffer[], review: Review, record: number, whole: boolean): CleanRecord {
  const line = lines[record]!;
  const clean = review.withheld.has(record) ? null : review.clean[record]!;
  const strings = stringsOf(line);
  const copyOf = clean ? copiesOf(clean, strings) : () => null;
  const places = placesIn(review, record);
  const shown: CleanField[] = [];
  const named: CleanRecord['places'] = [];
  const room = whole ? MAX_FIELDS : FOLDED_PLACES;
  let hiddenFields = 0;
  let at = 0;
  strings.forEach((string, i) => {
    while (at < places.length && places[at]!.end <= string.from) at++;
    const around = places[at];
    if (around && around.start < string.from && around.end > string.to) {
      // In a list that was emptied: the list is named, its texts are no more.
      if (named.at(-1)?.place !== around.place && named.length < room)
        named.push({ place: around.place, kind: around.kind, path: string.path.replace(/(?:\[\d+\]|\.[^.[]*)$/, '') });
      return;
    }
    const found: Place[] = [];
    for (let p = at; p < places.length && places[p]!.start < string.to; p++) found.push(places[p]!);
    if (string.isKey && found.length === 0) return;
    const most = whole ? MAX_FIELDS : places.length > 0 ? FOLDED_FIELDS : PLAIN_FIELDS;
    const wanted = found.length > 0 || (string.to > string.from && (whole || places.length === 0));
    if (!wanted || shown.length >= most || (found.length > 0 && named.length >= room)) {
      hiddenFields++;
      return;
    }
    const kept = found.slice(0, room - named.length);
    for (const { place, kind } of kept) named.push({ place, kind, path: string.path });
    const cut = kept.length < found.length;
    shown.push(fieldOf(line, string, kept, copyOf(string, i), { most: whole ? WHOLE_TEXT : FOLDED_TEXT, cut }));
  });
  const source = strings.findIndex(({ path, isKey }) => path === 'source' && !isKey);
  const who = record === 0 ? 'session' : source < 0 ? '' : textOf(line, strings[source]!.from, strings[source]!.to);
  return {
    record,
    who: who.slice(0, 40),
    bytes: line.length,
    withheld: clean === null,
    places: named,
    hiddenPlaces: places.length - named.length,
    fields: shown,
    hiddenFields,
  };
}

/** The text of a string's copy: by its order, or by its path where lists were emptied. */
function copiesOf(clean: Buffer, strings: readonly RecordString[]): (string: RecordString, i: number) => string {
  const copies = stringsOf(clean);
  const text = (copy: RecordString | undefined): string => (copy ? textOf(clean, copy.from, copy.to) : '');
  if (copies.length === strings.length) return (_, i) => text(copies[i]);
  const name = ({ path, isKey }: RecordString): string => `${path} ${isKey}`;
  const byName = new Map(copies.map((copy) => [name(copy), copy]));
  return (string) => text(byName.get(name(string)));
}

function placesIn({ places, kinds }: Review, record: number): Place[] {
  const out: Place[] = [];
  for (let i = firstOf(places, record); i < places.length && places[i]!.record === record; i++) {
    const { start, end, kind, rest } = places[i]!;
    out.push({ place: i, start, end, kind, standIn: rest ? '' : kinds[kind]!.placeholder });
  }
  return out;
}

function firstOf(places: Review['places'], record: number): number {
  let low = 0;
  for (let high = places.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (places[middle]!.record < record) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `copy`: the text of the cleaned copy; null: there is none. */
function fieldOf(
  line: Buffer,
  string: RecordString,
  found: readonly Place[],
  copy: string | null,
  { most, cut }: { most: number; cut: boolean },
): CleanField {
  const original: TextPart[] = [];
  const clean: TextPart[] = [];
  const add = (parts: TextPart[], text: string, place: number | null): void => {
    if (text !== '' || place !== null) parts.push({ text, place, hidden: 0 });
  };
  let at = string.from;
  for (const { place, start, end, standIn } of found) {
    const from = Math.max(start, at);
    const to = Math.max(from, Math.min(end, string.to));
    const between = textOf(line, at, from);
    add(original, between, null);
    add(clean, between, null);
    add(original, textOf(line, from, to), place);
    add(clean, standIn, place);
    at = to;
  }
  const rest = textOf(line, at, string.to);
  if (!cut) {
    add(original, rest, null);
    add(clean, rest, null);
  }
  const said = clean.map(({ text }) => text).join('');
  // The second look may have replaced more than the first: then the copy is shown as it is, without marks.
  const same = copy !== null && (cut ? copy.startsWith(said) : copy === said);
  if (cut) {
    original.at(-1)!.hidden = rest.length;
    if (same) clean.at(-1)!.hidden = copy.length - said.length;
  }
  const copied: TextPart[] = same ? clean : [{ text: copy ?? '', place: null, hidden: 0 }];
  return {
    path: string.path,
    isKey: string.isKey,
    original: folded(original, most),
    clean: copy === null ? null : folded(copied, most),
  };
}

/** Keeps what stands beside a place; at the ends of the text only the side that faces one. */
function folded(parts: readonly TextPart[], most: number): TextPart[] {
  return parts.flatMap((part, i) => {
    const { text, place } = part;
    if (text.length <= most) return [part];
    const head = i === 0 && parts.length > 1 && place === null ? 60 : Math.floor(most / 2);
    const tail = i === parts.length - 1 && place === null ? 0 : Math.floor(most / 2);
    const hidden = text.length - head - tail;
    if (tail === 0) return [{ text: text.slice(0, head), place, hidden: hidden + part.hidden }];
    return [
      { text: text.slice(0, head), place, hidden },
      { text: text.slice(-tail), place, hidden: part.hidden },
    ];
  });
}
