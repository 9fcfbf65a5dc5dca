/**
 * Edits of a JSON text with comments that leave every other character where it is. (jsonc-parser's own `modify` lays the
 * lines around its edit out anew.)
 */
import jsonc from 'jsonc-parser';
import { APPEND, type ConfigPath, type JsonValue } from './config-text.js';

/** Of jsonc-parser's SyntaxKind, a `const enum` that exists in its types alone. */
const COMMA = 5;
const [LINE_COMMENT, BLOCK_COMMENT, BLANKS] = [12, 13, 15];

interface Edit {
  from: number;
  to: number;
  text: string;
}

interface Style {
  indent: string;
  eol: string;
}

export function styleOf(text: string): Style {
  return { indent: /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

const apply = (text: string, edits: readonly Edit[]): string =>
  [...edits]
    .sort((a, b) => b.from - a.from)
    .reduce((done, { from, to, text: put }) => done.slice(0, from) + put + done.slice(to), text);

const endOf = (node: jsonc.Node): number => node.offset + node.length;

/** White space at the start of the line of `offset`. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

function print(value: JsonValue, base: string, { indent, eol }: Style): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', eol + base);
}

/** Where the comma after `offset` ends; null: the next thing is none. */
function commaAfter(text: string, offset: number): number | null {
  const scanner = jsonc.createScanner(text, true);
  scanner.setPosition(offset);
  return Number(scanner.scan()) === COMMA ? scanner.getPosition() : null;
}

/** The end of what belongs to a line that goes on at `offset`: blanks and comments; the line end itself is not in it. */
function lineRest(text: string, offset: number): number {
  const scanner = jsonc.createScanner(text, false);
  scanner.setPosition(offset);
  for (let end = offset; ; end = scanner.getPosition()) {
    const inLine = [LINE_COMMENT, BLOCK_COMMENT, BLANKS].includes(Number(scanner.scan()));
    if (!inLine || text.slice(offset, scanner.getPosition()).includes('\n')) return end;
  }
}

/** One more member after the last one. */
function insert(text: string, container: jsonc.Node, member: (base: string) => string, style: Style): Edit[] {
  const { eol, indent } = style;
  const members = container.children ?? [];
  const [first, last] = [members[0], members.at(-1)];
  if (!first || !last) {
    const base = indentAt(text, container.offset);
    const inner = container.offset + 1;
    const close = endOf(container) - 1;
    const comments = text.slice(inner, close).trimEnd();
    const line = `${eol}${base}${indent}`;
    return [{ from: inner + comments.length, to: close, text: `${line}${member(base + indent)}${eol}${base}` }];
  }
  const spread = text.slice(container.offset, first.offset).includes('\n');
  const base = indentAt(text, spread ? first.offset : container.offset);
  const before = spread ? eol + base : ' ';
  const comma = commaAfter(text, endOf(last));
  const at = spread ? lineRest(text, comma ?? endOf(last)) : (comma ?? endOf(last));
  const added = { from: at, to: at, text: before + member(base) + (comma === null ? '' : ',') };
  // In this order: of two edits at one place, the one applied last comes first in the text.
  return comma === null ? [added, { from: endOf(last), to: endOf(last), text: ',' }] : [added];
}

/** The member with its comma, and with its line where nothing else is on it. */
function remove(text: string, container: jsonc.Node, index: number): Edit[] {
  const members = container.children ?? [];
  const [before, gone] = [members[index - 1], members[index]!];
  const comma = commaAfter(text, endOf(gone));
  // A comment between the value and its comma stays.
  const apart = comma !== null && text.slice(endOf(gone), comma - 1).trim() !== '';
  let [from, to] = [gone.offset, apart || comma === null ? endOf(gone) : comma];
  const start = text.lastIndexOf('\n', from - 1) + 1;
  const rest = /^[ \t]*(\r?\n)?/.exec(text.slice(to))!;
  const alone = text.slice(start, from).trim() === '';
  const others = text.slice(container.offset + 1, from) + text.slice(to, endOf(container) - 1);
  if (others.trim() === '') [from, to] = [container.offset + 1, endOf(container) - 1];
  else if (alone && rest[1] !== undefined) [from, to] = [start, to + rest[0].length];
  else if (!alone && members.length > 1) from -= /[ \t]*$/.exec(text.slice(0, from))![0].length;
  const edits: Edit[] = [{ from, to, text: '' }];
  if (apart) edits.push({ from: comma - 1, to: comma, text: '' });
  const dangling = comma === null && before ? commaAfter(text, endOf(before)) : null;
  if (dangling !== null) edits.push({ from: dangling - 1, to: dangling, text: '' });
  return edits;
}

/** Sets `path` (`undefined` removes). Throws where something other than an object or a list is in the way. */
export function editJson(text: string, root: jsonc.Node, path: ConfigPath, value: JsonValue | undefined): string {
  const style = styleOf(text);
  let depth = 0;
  let node = root;
  for (; depth < path.length; depth++) {
    const next = path[depth] === APPEND ? undefined : jsonc.findNodeAtLocation(node, [path[depth]!]);
    if (!next) break;
    node = next;
  }
  if (value === undefined) {
    if (depth < path.length) return text;
    const member = node.parent?.type === 'property' ? node.parent : node;
    const container = member.parent!;
    return apply(text, remove(text, container, container.children!.indexOf(member)));
  }
  if (depth === path.length)
    return apply(text, [
      { from: node.offset, to: endOf(node), text: print(value, indentAt(text, node.offset), style) },
    ]);
  const [key, ...deeper] = path.slice(depth);
  if (node.type !== (key === APPEND ? 'array' : 'object')) throw new Error('Something else is in the way.');
  const whole = deeper.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
  const name = key === APPEND ? '' : `${JSON.stringify(key)}: `;
  return apply(
    text,
    insert(text, node, (base) => name + print(whole, base, style), style),
  );
}
