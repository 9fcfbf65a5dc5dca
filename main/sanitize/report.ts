/** What a report says of a replacement besides where it is: the way to it in its record, and what stands around it in the cleaned copy. */
import { endOfLine } from './lines.js';
import { stringsOf } from './review/record-strings.js';
import type { Finding } from './sanitize.js';

export interface ReportRow extends Finding {
  /** Such as `message.content[0].text`; '' in plain text. */
  path: string;
  /** Of the cleaned line, at most `CONTEXT` bytes; '' where the line was changed once more or is withheld. */
  before: string;
  after: string;
}

const CONTEXT = 40;
/** Names of longer lines are not looked for: they would take more memory than the line. */
const LONGEST_LINE = 16 << 20;

/** `findings`: in order, lines counted in `original`; `clean`: what came out of it, line by line. */
export function reportRows(original: Buffer, clean: Buffer, findings: readonly Finding[]): ReportRow[] {
  const rows: ReportRow[] = [];
  const from = new Lines(original);
  const to = new Lines(clean);
  let at = 0;
  while (at < findings.length) {
    const { line } = findings[at]!;
    let end = at;
    while (end < findings.length && findings[end]!.line === line) end++;
    rows.push(...rowsOfLine(from.line(line), to.line(line), findings.slice(at, end)));
    at = end;
  }
  return rows;
}

function rowsOfLine(original: Buffer, clean: Buffer, findings: readonly Finding[]): ReportRow[] {
  // Names may be secrets themselves: they are those of the cleaned line.
  const strings = original[0] === 0x7b || original[0] === 0x5b ? namesOf(original) : [];
  const names = strings.length > 0 ? namesOf(clean) : [];
  let grown = 0;
  for (const { start, end, placeholder } of findings) grown += placeholder.length - (end - start);
  const known = clean.length === original.length + grown ? clean : null;
  let moved = 0;
  let string = 0;
  return findings.map((finding) => {
    const { start, end, placeholder } = finding;
    while (string < strings.length && strings[string]!.to < end) string++;
    const inside = strings[string];
    const first = start + moved;
    const last = first + placeholder.length;
    moved += placeholder.length - (end - start);
    return {
      ...finding,
      path: inside && inside.from <= start && names.length === strings.length ? names[string]!.path : '',
      before: known ? text(known, Math.max(0, first - CONTEXT), first) : '',
      after: known ? text(known, last, Math.min(known.length, last + CONTEXT)) : '',
    };
  });
}

function namesOf(line: Buffer): ReturnType<typeof stringsOf> {
  return line.length > LONGEST_LINE ? [] : stringsOf(line);
}

/** Characters that are cut at the ends are left out. */
const text = (bytes: Buffer, from: number, to: number): string =>
  bytes.toString('utf8', from, to).replace(/^\ufffd+|\ufffd+$/g, '');

/** Lines by their numbers, asked for in order. */
class Lines {
  #number = 0;
  #start = 0;

  constructor(private readonly bytes: Buffer) {}

  line(number: number): Buffer {
    for (; this.#number < number; this.#number++) this.#start = endOfLine(this.bytes, this.#start) + 1;
    return this.bytes.subarray(this.#start, endOfLine(this.bytes, this.#start));
  }
}
