/** What the Clean screen works out of what it was sent. */
import type { CleanField, CleanKind, CleanRecord, TextPart } from '../../contract/clean-calls.js';

/** Places of a page in the order in which they are stepped through. */
export const placesOf = (records: readonly CleanRecord[]): number[] =>
  records.flatMap(({ places }) => places.map(({ place }) => place));

/** null: there is none beyond. */
export function stepFrom(places: readonly number[], selected: number | null, direction: 1 | -1): number | null {
  const at = selected === null ? -1 : places.indexOf(selected);
  if (at < 0) return (direction > 0 ? places[0] : places.at(-1)) ?? null;
  return places[at + direction] ?? null;
}

export interface FoundPlace {
  record: CleanRecord;
  kind: CleanKind | undefined;
  path: string;
  before: string;
  standIn: string;
  after: string;
}

const AROUND = 60;

/** A place with what stands around it in the cleaned copy. */
export function findPlace(
  records: readonly CleanRecord[],
  kinds: readonly CleanKind[],
  place: number | null,
): FoundPlace | null {
  if (place === null) return null;
  for (const record of records) {
    const named = record.places.find((one) => one.place === place);
    if (!named) continue;
    const kind = kinds.find((one) => one.kind === named.kind);
    const parts = record.fields
      .map(({ clean }) => clean ?? [])
      .find((list) => list.some((part) => part.place === place));
    const at = parts?.findIndex((part) => part.place === place) ?? -1;
    const text = (list: readonly TextPart[]): string => list.map((part) => part.text).join('');
    return {
      record,
      kind,
      path: named.path,
      before: text(parts?.slice(0, at) ?? []).slice(-AROUND),
      standIn: parts?.[at]?.text ?? kind?.placeholder ?? '',
      after: text(parts?.slice(at + 1) ?? []).slice(0, AROUND),
    };
  }
  return null;
}

/** By family, in the order of their first appearance; those in doubt first. */
export function familiesOf(kinds: readonly CleanKind[]): { family: string; low: boolean; kinds: CleanKind[] }[] {
  const families = new Map<string, CleanKind[]>();
  for (const kind of kinds) families.set(kind.family, [...(families.get(kind.family) ?? []), kind]);
  return [...families]
    .map(([family, list]) => ({ family, low: list.some(({ low }) => low), kinds: list }))
    .sort((a, b) => Number(b.low) - Number(a.low));
}

/** Nothing more is replaced than before. */
export const sameKinds = (before: readonly CleanKind[] = [], after: readonly CleanKind[] = []): boolean =>
  before.length === after.length &&
  before.every((kind, i) => kind.placeholder === after[i]!.placeholder && kind.count === after[i]!.count);

/** Whether letters or digits stand beside the selection: then it is part of a word. */
export const isPartOfWord = (before: string, after: string): boolean =>
  /[\p{L}\p{N}]$/u.test(before) || /^[\p{L}\p{N}]/u.test(after);

/** Both sides tell the same marks; if not, the copy was replaced once more. */
export const isMarked = ({ original, clean }: CleanField): boolean =>
  clean === null || clean.some(({ place }) => place !== null) || original.every(({ place }) => place === null);

/** A name that a rule may have, made from a kind. */
export const ruleName = (family: string): string => (/^[A-Za-z][A-Za-z0-9 _-]{0,40}$/.test(family) ? family : 'marked');
