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
  const copies = clean ? stringsOf(clean) : [];
  const aligned = copies.length === strings.length;
  const places = placesIn(review, record);
  const shown: CleanField[] = [];
  const named: CleanRecord['places'] = [];
  let hiddenFields = 0;
  let at = 0;
  strings.forEach((string, i) => {
    while (at < places.length && places[at]!.end <= string.from) at++;
    const found: Place[] = [];
    for (let p = at; p < places.length && places[p]!.start < string.to; p++) found.push(places[p]!);
    if (string.isKey && found.length === 0) return;
    const most = whole ? MAX_FIELDS : places.length > 0 ? FOLDED_FIELDS : PLAIN_FIELDS;
    const wanted = found.length > 0 || (string.to > string.from && (whole || places.length === 0));
    if (!wanted || shown.length >= most || named.length + found.length > MAX_FIELDS) {
      hiddenFields++;
      return;
    }
    for (const { place, kind } of found) named.push({ place, kind, path: string.path });
    const copy = clean === null ? null : aligned ? textOf(clean, copies[i]!.from, copies[i]!.to) : '';
    shown.push(fieldOf(line, string, found, copy, whole ? WHOLE_TEXT : FOLDED_TEXT));
  });
  const source = strings.findIndex(({ path, isKey }) => path === 'source' && !isKey);
  const who = record === 0 ? 'session' : source < 0 ? '' : textOf(line, strings[source]!.from, strings[source]!.to);
  return {
    record,
    who: who.slice(0, 40),
    bytes: line.length,
    withheld: clean === null,
    places: named,
    fields: shown,
    hiddenFields,
  };
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
  most: number,
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
  add(original, rest, null);
  add(clean, rest, null);
  // The second look may have replaced more than the first: then the copy is shown as it is, without marks.
  const same = copy !== null && clean.map(({ text }) => text).join('') === copy;
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
    const shown = [{ text: text.slice(0, head), place, hidden: text.length - head - tail }];
    return tail > 0 ? [...shown, { text: text.slice(-tail), place, hidden: 0 }] : shown;
  });
}
