/** What editing a configuration file needs of its syntax. The text is edited, not printed anew: comments stay. */
import { isDeepStrictEqual } from 'node:util';
import { TackroomError } from '../../contract/errors.js';

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
/** Keys from the root; a number is a place in a list, APPEND the one after its last. */
export type ConfigPath = readonly (string | number)[];
export const APPEND = -1;

/** `undefined` removes. */
export type ConfigEdit = (text: string, path: ConfigPath, value: JsonValue | undefined) => string;

export interface ConfigSyntax {
  /** Such as JSON, for messages. */
  readonly name: string;
  /** Throws any error for what is not one object, or names a key twice. Blank text is an empty object. */
  parse(text: string): JsonObject;
  /** Ways to set a value, the gentlest first; each may throw, or do something else, which is noticed. */
  readonly edits: readonly ConfigEdit[];
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function valueAt(root: JsonValue | undefined, path: ConfigPath): JsonValue | undefined {
  let at = root;
  for (const key of path) {
    if (Array.isArray(at) && typeof key === 'number') at = at[key];
    else if (isObject(at) && typeof key === 'string') at = Object.hasOwn(at, key) ? at[key] : undefined;
    else return undefined;
  }
  return at;
}

/** A copy in which `path` holds `value`; what lies on the way and is no object becomes one. */
function withValue(root: JsonValue | undefined, path: ConfigPath, value: JsonValue | undefined): JsonValue | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof key === 'number') {
    const list = Array.isArray(root) ? [...root] : [];
    if (key === APPEND) list.push(value as JsonValue);
    else if (value === undefined) list.splice(key, 1);
    else list[key] = withValue(list[key], rest, value) as JsonValue;
    return list;
  }
  const { [key]: old, ...others } = isObject(root) ? root : {};
  const made = withValue(old, rest, value);
  return made === undefined ? others : { ...others, [key]: made };
}

const refused = (path: string, why: string, hint: string): TackroomError =>
  new TackroomError('REFUSED', `${path} ${why}, so it is left alone.`, hint);

/** What was parsed last: of a series of edits each reads what the one before has written. Nobody changes the object. */
const last = new WeakMap<ConfigSyntax, { text: string; config: JsonObject }>();

function parseOnce(syntax: ConfigSyntax, text: string): JsonObject {
  const known = last.get(syntax);
  if (known?.text === text) return known.config;
  const config = syntax.parse(text);
  last.set(syntax, { text, config });
  return config;
}

/** Errors: REFUSED, naming `path`. */
export function parseConfig(syntax: ConfigSyntax, path: string, text: string): JsonObject {
  try {
    return parseOnce(syntax, text);
  } catch {
    throw refused(
      path,
      `is not a readable ${syntax.name} object`,
      'Repair it; the harness itself may not start on it.',
    );
  }
}

/** Sets and checks: whatever the editor did, nothing but `path` may mean something else afterwards. */
export function editConfig(
  syntax: ConfigSyntax,
  path: string,
  text: string,
  at: ConfigPath,
  value: JsonValue | undefined,
): string {
  const wanted = withValue(parseConfig(syntax, path, text), at, value);
  for (const edit of syntax.edits)
    try {
      const edited = edit(text, at, value);
      if (isDeepStrictEqual(parseOnce(syntax, edited), wanted)) return edited;
    } catch {
      // The next way, or what is said below.
    }
  throw refused(
    path,
    `cannot be edited at ${at.join('.')} without touching the rest`,
    'Make the change by hand; --dry-run with an empty --root shows it.',
  );
}
