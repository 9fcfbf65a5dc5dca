/** Edits of a YAML text in place, where the way to the value leads through block mappings; others are printed anew. */
import { type Document, isMap, isScalar, type Node, type Pair, type YAMLMap } from 'yaml';
import { type ConfigPath, isObject, type JsonValue } from './config-text.js';

interface Place {
  map: YAMLMap;
  pair: Pair | undefined;
  /** Whose value `map` is; undefined at the root. */
  above: Pair | undefined;
}

const rangeOf = (node: unknown): [number, number] => {
  const range = (node as Node | null)?.range;
  if (!range) throw new Error('It has no place in the text.');
  return [range[0], range[1]];
};

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

/** Behind the line end at or after `at`; a block scalar ends with its own. */
function lineEnd(text: string, at: number): number {
  if (at > 0 && text[at - 1] === '\n') return at;
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** Where the last thing in a value ends: a mapping's own end takes the comments below it along. */
function endOf(node: unknown): number {
  if (isMap(node) && !node.flow && node.items.length > 0) {
    const last = node.items.at(-1)!;
    return last.value === null || (last.value as Node).range == null ? rangeOf(last.key)[1] + 1 : endOf(last.value);
  }
  return rangeOf(node)[1];
}

const pairOf = (map: YAMLMap, key: string): Pair | undefined =>
  map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);

/** Follows `path` as far as it goes. */
function follow(document: Document, path: readonly string[]): { place: Place; depth: number } {
  let map = document.contents;
  let above: Pair | undefined;
  for (let depth = 0; ; depth++) {
    if (!isMap(map) || map.flow) throw new Error('It is no block mapping.');
    const pair = pairOf(map, path[depth]!);
    const below: unknown = pair?.value;
    if (!pair || depth === path.length - 1 || !isMap(below) || below.flow)
      return { place: { map, pair, above }, depth };
    above = pair;
    map = below as typeof map;
  }
}

const SAFE = /^[A-Za-z](?:[\w./:-]*[\w./-])?$/;
const WORDS = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

/** In one line: JSON is YAML. */
const inline = (value: JsonValue): string =>
  typeof value === 'string' && SAFE.test(value) && !WORDS.test(value) ? value : JSON.stringify(value);

function lines(path: readonly string[], value: JsonValue, indent: string, step: string, eol: string): string {
  const [key, ...rest] = path as [string, ...string[]];
  const name = SAFE.test(key) && !WORDS.test(key) ? key : JSON.stringify(key);
  return rest.length === 0
    ? `${indent}${name}: ${inline(value)}${eol}`
    : `${indent}${name}:${eol}${lines(rest, value, indent + step, step, eol)}`;
}

const splice = (text: string, from: number, to: number, put: string): string =>
  text.slice(0, from) + put + text.slice(to);

function insertAfter(text: string, at: number, added: string, eol: string): string {
  const end = lineEnd(text, at);
  return splice(text, end, end, end > 0 && text[end - 1] !== '\n' ? eol + added.slice(0, -eol.length) : added);
}

function removePair(text: string, { map, pair, above }: Place, eol: string): string {
  if (!pair) return text;
  const [from] = rangeOf(pair.key);
  const value = pair.value as Node | null;
  const valueEnd = value?.range ? endOf(value) : rangeOf(pair.key)[1];
  const end = lineEnd(text, valueEnd);
  if (map.items.length > 1) return splice(text, lineStart(text, from), end, '');
  // An empty mapping has no block form. Comments in what goes would be lost with it.
  const [, keyEnd] = rangeOf(above?.key);
  if (!/^:\s*$/.test(text.slice(keyEnd, from)) || text.slice(valueEnd, end).trim() !== '')
    throw new Error('A comment.');
  return splice(text, keyEnd, end, `: {}${eol}`);
}

/** Throws where the text has another form. The caller checks what came of it. */
export function editYaml(
  text: string,
  document: Document,
  path: ConfigPath,
  value: JsonValue | undefined,
  step: number,
): string {
  const keys = path.map((key) => {
    if (typeof key === 'string') return key;
    throw new Error('It is a list.');
  });
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const blank = ' '.repeat(step);
  if (document.contents === null && value !== undefined)
    return insertAfter(text, text.length, lines(keys, value, '', blank, eol), eol);
  const { place, depth } = follow(document, keys);
  const { map, pair } = place;
  const rest = keys.slice(depth);
  if (value === undefined) {
    if (pair && depth === keys.length - 1) return removePair(text, place, eol);
    return text;
  }
  const first = map.items[0];
  if (!first) throw new Error('It is empty.');
  const [column] = rangeOf(first.key);
  const indent = ' '.repeat(
    column -
      lineStart(text, column) -
      (column > 0 && text.startsWith('\uFEFF') && lineStart(text, column) === 0 ? 1 : 0),
  );
  if (!pair) return insertAfter(text, endOf(map), lines(rest, value, indent, blank, eol), eol);
  const old = pair.value as Node | null;
  const empty = isScalar(old) && old.value === null && old.source !== 'null' && old.source !== '~';
  if (rest.length > 1) {
    if (!empty) throw new Error('Something else is in the way.');
    return insertAfter(text, rangeOf(pair.key)[1] + 1, lines(rest.slice(1), value, indent + blank, blank, eol), eol);
  }
  const [from, to] = rangeOf(old);
  if (empty || (isMap(old) && !old.flow) || text.slice(from, to).includes('\n')) throw new Error('It is a block.');
  return splice(text, from, to, isObject(value) ? JSON.stringify(value) : inline(value));
}
