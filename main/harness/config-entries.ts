/**
 * What Tackroom puts into a configuration file, and how it takes it out of one that was edited since: a value that is
 * still ours goes back to what was there, what the user made of it stays, and where taking ours out would lose the
 * user's work, or leave something that points at nothing, it refuses.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import {
  APPEND,
  type ConfigSyntax,
  editConfig,
  isObject,
  type JsonValue,
  parseConfig,
  valueAt,
} from './config-text.js';

export const Entry = z.object({
  path: z.array(z.string()).min(1),
  /**
   * `own`: the whole value is Tackroom's. `choice`: a setting of the user's that Tackroom takes over. `member`: one
   * more element of a list.
   */
  kind: z.enum(['own', 'choice', 'member']),
  /** As long as the entry of this path is still ours, this one means nothing without it. */
  follows: z.array(z.string()).optional(),
  /** What Tackroom wrote: the last one first, then earlier ones, which a kill may have left in the file. */
  ours: z.array(z.json()).min(1),
});
export type Entry = z.infer<typeof Entry>;

/** Name of Tackroom as a provider of models. */
export const PROVIDER = 'tackroom';

const keyOf = (path: readonly string[]): string => path.join('.');

/** `text` with all entries. Errors: REFUSED for what cannot be edited in place. */
export function enterAll(syntax: ConfigSyntax, path: string, text: string, entries: readonly Entry[]): string {
  return entries.reduce((edited, entry) => {
    const value = entry.ours[0] as JsonValue;
    if (entry.kind !== 'member') return editConfig(syntax, path, edited, entry.path, value);
    const list = valueAt(parseConfig(syntax, path, edited), entry.path);
    if (!Array.isArray(list)) return editConfig(syntax, path, edited, entry.path, [value]);
    return list.includes(value) ? edited : editConfig(syntax, path, edited, [...entry.path, APPEND], value);
  }, text);
}

/** All texts in a value, with where they are. */
function textsIn(value: JsonValue | undefined, at: string): { at: string; text: string }[] {
  if (typeof value === 'string') return [{ at, text: value }];
  const parts = Array.isArray(value)
    ? value.map((one, i) => [i, one] as const)
    : Object.entries(isObject(value) ? value : {});
  return parts.flatMap(([key, one]) => textsIn(one, at === '' ? String(key) : `${at}.${key}`));
}

const points = (text: string, urls: ReadonlySet<string>): boolean => text.startsWith(`${PROVIDER}/`) || urls.has(text);

/** `text` without any entry. `original`: what the file held before. Errors: REFUSED on a conflict, naming the place. */
export function leaveAll(
  syntax: ConfigSyntax,
  path: string,
  text: string,
  original: string,
  entries: readonly Entry[],
): string {
  const [now, before] = [parseConfig(syntax, path, text), parseConfig(syntax, path, original)];
  const isOurs = (entry: Entry): boolean => entry.ours.some((one) => isDeepStrictEqual(one, valueAt(now, entry.path)));
  const still = new Set(entries.filter(isOurs).map(({ path: at }) => keyOf(at)));
  const left = entries.reduce((edited, entry) => {
    const [value, old] = [valueAt(now, entry.path), valueAt(before, entry.path)];
    if (value === undefined || isDeepStrictEqual(value, old)) return edited;
    if (entry.kind === 'member') return leaveList(syntax, path, edited, entry, old);
    if (!still.has(keyOf(entry.path)) && !(entry.follows && still.has(keyOf(entry.follows)))) {
      if (entry.kind === 'choice') return edited;
      throw conflict(path, `${keyOf(entry.path)} was changed`, 'removing it would lose that change');
    }
    const put = editConfig(syntax, path, edited, entry.path, old);
    return old === undefined ? prune(syntax, path, put, entry.path, before) : put;
  }, text);
  refuseDangling(syntax, path, left, original, entries);
  return left;
}

function leaveList(syntax: ConfigSyntax, path: string, text: string, entry: Entry, old: JsonValue | undefined): string {
  const list = valueAt(parseConfig(syntax, path, text), entry.path);
  const index = Array.isArray(list) ? list.indexOf(entry.ours[0] as JsonValue) : -1;
  if (!Array.isArray(list) || index < 0 || (Array.isArray(old) && old.includes(list[index]!))) return text;
  // Without a list all are allowed: an empty one, which allows none, is not what was there.
  if (list.length === 1 && old === undefined) return editConfig(syntax, path, text, entry.path, undefined);
  return editConfig(syntax, path, text, [...entry.path, index], undefined);
}

/** Removes objects that were made for `at` and are empty again. */
function prune(syntax: ConfigSyntax, path: string, text: string, at: readonly string[], before: JsonValue): string {
  for (let depth = at.length - 1; depth > 0; depth--) {
    const above = at.slice(0, depth);
    const value = valueAt(parseConfig(syntax, path, text), above);
    const old = valueAt(before, above);
    if (!isObject(value) || Object.keys(value).length > 0 || isObject(old)) return text;
    // `model:` without a value is null, not an empty object.
    text = editConfig(syntax, path, text, above, old);
  }
  return text;
}

function refuseDangling(
  syntax: ConfigSyntax,
  path: string,
  left: string,
  original: string,
  entries: readonly Entry[],
): void {
  const written = entries.flatMap((entry) => entry.ours.flatMap((one) => textsIn(one as JsonValue, '')));
  const urls = new Set(written.map(({ text }) => text).filter((text) => text.startsWith('http://127.0.0.1:')));
  const before = new Set(textsIn(parseConfig(syntax, path, original), '').map(({ text }) => text));
  const found = textsIn(parseConfig(syntax, path, left), '').find(
    ({ text }) => points(text, urls) && !before.has(text),
  );
  if (found) throw conflict(path, `${found.at} says ${JSON.stringify(found.text)}`, 'it would point at nothing');
}

const conflict = (path: string, what: string, why: string): TackroomError =>
  new TackroomError(
    'REFUSED',
    `In ${path}, ${what} after connecting and ${why}, so nothing was changed.`,
    'Change or remove that place yourself and run this again; the file as it was before is beside it, .tackroom-backup.',
  );
