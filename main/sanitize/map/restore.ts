/** Puts the originals back: lines that are as they were cleaned byte for byte, edited ones by what their stand-ins stand for. */
import { endsWord } from '../second/learnt-search.js';
import { STAND_IN_SOURCE } from '../second/stand-in-places.js';
import { CHANGE, hashOf, linesOf, type OpenedMap } from './restore-map.js';

export interface Restored {
  bytes: Buffer;
  /** Lines that were put back byte for byte, and edited ones in which something was. */
  exact: number;
  edited: number;
  /** Stand-ins that look like ours and are not in the map. */
  unknown: number;
  /** Lines of which several originals are known, and the order is lost. */
  unclear: number;
}

/** `whole`: the file is what was given out, byte for byte. */
export function restore(clean: Buffer, map: OpenedMap, whole: boolean): Restored {
  const seen = new Map<number, number>();
  const out: Buffer[] = [];
  const result = { exact: 0, edited: 0, unknown: 0, unclear: 0 };
  let done = 0;
  for (const [from, to] of linesOf(clean)) {
    const hash = hashOf(clean, from, to);
    const known = map.lines.get(hash);
    let line = null;
    if (known) {
      const time = seen.get(hash) ?? 0;
      seen.set(hash, time + 1);
      const changes = whole || known.length === 1 ? changesAt(known, time) : null;
      // Lines that were cleaned alike had different originals, and what was edited may have changed their order.
      if (changes) line = exactLine(clean.subarray(from, to), changes, map.originals);
      else result.unclear++;
    }
    if (line) result.exact++;
    else if (!whole) line = editedLine(clean.toString('latin1', from, to), map.standIns, result);
    if (line === null) continue;
    out.push(clean.subarray(done, from), line);
    done = to;
  }
  out.push(clean.subarray(done));
  return { bytes: Buffer.concat(out), ...result };
}

function changesAt(known: readonly (readonly [number, readonly number[]])[], time: number): readonly number[] {
  let before = 0;
  for (const [times, changes] of known) {
    before += times;
    if (time < before) return changes;
  }
  return known.at(-1)![1];
}

/** null: the changes are of another line. */
function exactLine(line: Buffer, changes: readonly number[], originals: readonly string[]): Buffer | null {
  const out: Buffer[] = [];
  let at = 0;
  for (let i = 0; i + 2 < changes.length; i += CHANGE) {
    const start = at + changes[i]!;
    const original = originals[changes[i + 2]!];
    if (original === undefined || start + changes[i + 1]! > line.length) return null;
    out.push(line.subarray(at, start), Buffer.from(original, 'latin1'));
    at = start + changes[i + 1]!;
  }
  out.push(line.subarray(at));
  return Buffer.concat(out);
}

/** null: nothing stands in it that the map knows. */
function editedLine(
  line: string,
  values: ReadonlyMap<string, string>,
  result: { edited: number; unknown: number },
): Buffer | null {
  const found = [...line.matchAll(standIn())];
  if (found.length === 0) return null;
  const depths = depthsOf(line, 0);
  const out: string[] = [];
  let at = 0;
  found.forEach((match, i) => {
    const value = valueFor(match, line, values);
    if (value === null) {
      if (match[0].startsWith('REDACTED_')) result.unknown++;
      return;
    }
    // Where the two readings differ, a string of a record is the likely place.
    const depth = depths.length === found.length ? depths[i]! : 1;
    out.push(line.slice(at, match.index), escaped(value, depth));
    at = match.index + match[0].length;
  });
  if (out.length === 0) return null;
  result.edited++;
  return Buffer.from(out.join('') + line.slice(at), 'latin1');
}

/** Stand-ins of images are images. */
const SOURCE = String.raw`${STAND_IN_SOURCE}|(?:iVBORw0KGgo|\/9j\/2wBD|R0lGODlhAQAB|UklGRiIA)[A-Za-z0-9+/]{60,600}`;
/** Longer ones do not occur by chance. */
const SHORT = 60;
const standIn = (): RegExp => new RegExp(SOURCE, 'g');

/** null: it is part of a longer word, or none of ours. */
function valueFor(
  { 0: text, index }: RegExpExecArray,
  line: string,
  values: ReadonlyMap<string, string>,
): string | null {
  const value = values.get(text) ?? null;
  if (value === null || text.startsWith('REDACTED_') || text.length > SHORT) return value;
  const before = Buffer.from(line.slice(Math.max(0, index - 24), index), 'latin1');
  const after = line.slice(index + text.length, index + text.length + 1);
  return endsWord(before, before.length) || /[A-Za-z0-9]/.test(after) ? null : value;
}

/** How deep in JSON each stand-in of `text` stands, in order: 0 where it is no JSON. */
function depthsOf(text: string, depth: number): number[] {
  const plain = (): number[] => [...text.matchAll(standIn())].map(() => depth);
  if (!/^[\ufeff\u00ef\u00bb\u00bf\s]*[[{"]/.test(text)) return plain();
  try {
    JSON.parse(text.replace(/^(?:\ufeff|\u00ef\u00bb\u00bf)/, ''));
  } catch {
    return plain();
  }
  const out: number[] = [];
  for (const [token] of text.matchAll(new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${SOURCE}`, 'g')))
    if (token.startsWith('"')) out.push(...depthsOf(JSON.parse(token) as string, depth + 1));
    else out.push(depth);
  return out;
}

function escaped(value: string, depth: number): string {
  // A line break cannot be put into a line of text as it is.
  const times = depth === 0 && /[\n\r]/.test(value) ? 1 : depth;
  let text = value;
  for (let i = 0; i < times; i++) text = JSON.stringify(text).slice(1, -1);
  return text;
}
