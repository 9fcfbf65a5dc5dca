/**
 * What commands printed whose whole output is private (`whoami`, `gh auth token`): the command stands in one record, what it printed in
 * another, and the id of the call is in both. A name or a password that stands alone says nothing of itself.
 */
import { type Asked, askedBy, isAnswer } from './detect/asking-commands.js';
import { type RecordString, stringsOf } from './review/record-strings.js';
import type { Span } from './span.js';

/** Longer records are not taken apart. */
const LONGEST_LINE = 4 << 20;
/** Records after the command's own in which its output is looked for. */
const LINES_AFTER = 50;
const DEEPEST = 12;
const ID = /^(?:id|(?:tool|source)?_?(?:call|use)_?id|tool_?(?:call|use)_?id)$/i;
const OUTPUT = /^(?:output|content|text|stdout|result|aggregated_?output|formatted_?output)$/i;

interface Call {
  asked: Asked;
  ids: ReadonlySet<string>;
  linesLeft: number;
}
/** Path as in `stringsOf`; of JSON in a string that of the string. */
interface Printed {
  path: string;
  text: string;
}

/** Within `input[from..to)`, lines of JSON. */
export function answersIn(input: Uint8Array, from: number, to: number): Span[] {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const spans: Span[] = [];
  let calls: Call[] = [];
  for (let start = from; start < to; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 || newline > to ? to : newline;
    const record = recordOf(bytes.subarray(start, end));
    if (record !== null) {
      for (const call of callsIn(record)) calls.push({ ...call, linesLeft: LINES_AFTER });
      if (calls.length > 0) spans.push(...answersOf(bytes, start, end, record, calls));
      calls = calls.filter((call) => --call.linesLeft > 0);
    }
    start = end + 1;
  }
  return spans;
}

function recordOf(line: Buffer): object | null {
  if (line[0] !== 0x7b || line.length > LONGEST_LINE) return null;
  return parsed(line.toString('utf8'));
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

type Visit = (text: string, path: string, key: string, owner: object | null) => void;

/** Every string with the nearest object around it that has an id. */
function walk(value: unknown, visit: Visit, path = '', key = '', owner: object | null = null, depth = 0): void {
  if (typeof value === 'string') {
    visit(value, path, key, owner);
    const inner = /^\s*\{/.test(value) && depth < DEEPEST ? parsed(value) : null;
    if (inner) walkMembers(inner, visit, path, true, owner, depth + 1);
  } else if (typeof value === 'object' && value !== null && depth < DEEPEST)
    walkMembers(value, visit, path, false, idsOf(value).size > 0 ? value : owner, depth + 1);
}

function walkMembers(
  value: object,
  visit: Visit,
  path: string,
  isInString: boolean,
  owner: object | null,
  depth: number,
): void {
  const isList = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    const step = isList ? `[${name}]` : /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    const at = isInString ? path : `${path}${step}`.replace(/^\./, '');
    if (isInString && typeof member === 'object' && member !== null)
      walkMembers(member, visit, path, true, owner, Math.min(depth + 1, DEEPEST));
    else walk(member, visit, at, isList ? 'text' : name, owner, depth);
  }
}

function idsOf(value: object): Set<string> {
  const ids = Object.entries(value).flatMap(([name, id]) => (ID.test(name) && typeof id === 'string' ? [id] : []));
  return new Set(ids.filter((id) => id.length > 3));
}

function callsIn(record: object): Omit<Call, 'linesLeft'>[] {
  const calls: Omit<Call, 'linesLeft'>[] = [];
  walk(record, (text, _path, _key, owner) => {
    const asked = owner && askedBy(text);
    if (asked) calls.push({ asked, ids: idsOf(owner) });
  });
  return calls;
}

function answersOf(bytes: Buffer, start: number, end: number, record: object, calls: readonly Call[]): Span[] {
  const spans: Span[] = [];
  let strings: RecordString[] | null = null;
  walk(record, (text, path, key, owner) => {
    if (!owner || !OUTPUT.test(key)) return;
    const ids = idsOf(owner);
    const word = text.trim();
    const call = calls.find((one) => isAnswer(one.asked, word) && [...ids].some((id) => one.ids.has(id)));
    if (!call) return;
    strings ??= stringsOf(bytes.subarray(start, end));
    const place = placeOf(bytes, start, strings, { path, text: word });
    if (place !== null) {
      const value = Buffer.from(word).toString('latin1');
      spans.push({ start: place, end: place + value.length, family: call.asked.family, certainty: 'block', value });
    }
  });
  return spans;
}

/** First byte of the word in the input; null: it is written in escapes. */
function placeOf(
  bytes: Buffer,
  start: number,
  strings: readonly RecordString[],
  { path, text }: Printed,
): number | null {
  const string = strings.find((one) => one.path === path && !one.isKey);
  if (!string) return null;
  const raw = bytes.toString('latin1', start + string.from, start + string.to);
  const word = Buffer.from(text).toString('latin1');
  for (let at = raw.indexOf(word); at >= 0; at = raw.indexOf(word, at + 1)) {
    const before = raw.slice(Math.max(0, at - 6), at);
    const after = raw.slice(at + word.length, at + word.length + 6);
    // The whole of a text: at its beginning or after a quote, and to its end but for what is blank.
    if (/(?:^|\\"|\\[nrt]|\s)$/.test(before) && /^(?:\s|\\+[nrt])*(?:\\*"|$|\\)/.test(after))
      return start + string.from + at;
  }
  return null;
}
