/** The strings of one JSON record with the paths that lead to them, and parts of them as text. */
import { stringEnd } from '../scan/json-check.js';

export interface RecordString {
  /** Such as `tool_calls[0].arguments.command`. */
  path: string;
  /** It is the name of a member, not a value. */
  isKey: boolean;
  /** Bytes between the quotes. */
  from: number;
  to: number;
}

interface Level {
  object: boolean;
  name: string;
  index: number;
}

const PLAIN = /^[A-Za-z_$][\w$]*$/;
const MAX_PATH = 400;

const step = ({ object, name, index }: Level): string =>
  !object ? `[${index}]` : PLAIN.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;

/** Of a valid record, in order; `from` and `to` are bytes of `line`. */
export function stringsOf(line: Buffer): RecordString[] {
  const out: RecordString[] = [];
  const levels: Level[] = [];
  let isKey = false;
  for (let i = 0; i < line.length; ) {
    const c = line[i]!;
    const top = levels.at(-1);
    if (c === 123 || c === 91) levels.push({ object: c === 123, name: '', index: 0 });
    else if (c === 125 || c === 93) levels.pop();
    else if (c === 44 && top && !top.object) top.index++;
    if (c === 44) isKey = top?.object === true;
    else if (c === 123) isKey = true;
    else if (c === 91 || c === 58 || c === 125) isKey = false;
    if (c !== 34) {
      i++;
      continue;
    }
    const end = stringEnd(line, i, line.length);
    if (end < 0) return out;
    if (isKey && top) top.name = textOf(line, i + 1, end - 1);
    const path = levels.map(step).join('').replace(/^\./, '').slice(0, MAX_PATH);
    out.push({ path, isKey, from: i + 1, to: end - 1 });
    isKey = false;
    i = end;
  }
  return out;
}

/** What bytes of a string say; as they are where they begin or end within an escape. */
export function textOf(line: Buffer, from: number, to: number): string {
  const raw = line.toString('utf8', from, to);
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}
