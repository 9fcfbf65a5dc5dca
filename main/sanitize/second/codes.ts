/** Parts of a text in which characters stand as codes, several in a row, with all their codes read. */

const MARKS = ['%', '\\x', '\\u'].map((mark) => Buffer.from(mark));
const NEWLINE = 10;
/** Longer lines are read in parts that share so much. */
const PART = 1 << 20;
const SHARED = 64 << 10;

const CODE = String.raw`%[0-9A-Fa-f]{2}|\\{1,8}x[0-9A-Fa-f]{2}|(?:\\{1,8}u[0-9A-Fa-f]{4})+`;
const IN_A_ROW =
  /%[0-9A-Fa-f]{2}%[0-9A-Fa-f]{2}|x[0-9A-Fa-f]{2}\\{1,8}x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}\\{1,8}u[0-9A-Fa-f]{4}/;
/** As long as two codes of the longest kind. */
const ROW = 24;

export interface ReadPart {
  /** Of the text that was given. */
  start: number;
  end: number;
  text: Buffer;
}

/** One character a byte. */
const read = (text: string): string =>
  text.replace(new RegExp(CODE, 'g'), (code) => {
    if (code[0] === '%' || code.includes('x')) return String.fromCharCode(Number.parseInt(code.slice(-2), 16));
    const units = code
      .match(/u[0-9A-Fa-f]{4}/g)!
      .map((unit) => String.fromCharCode(Number.parseInt(unit.slice(1), 16)));
    return Buffer.from(units.join('')).toString('latin1');
  });

/** In order; parts of one line share some of it. */
export function readCodes(bytes: Buffer): ReadPart[] {
  const starts = new Map<number, number>();
  for (const mark of MARKS)
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
      if (!IN_A_ROW.test(bytes.toString('latin1', at, at + ROW))) continue;
      const from = at === 0 ? 0 : bytes.lastIndexOf(NEWLINE, at - 1) + 1;
      const newline = bytes.indexOf(NEWLINE, at);
      const to = newline < 0 ? bytes.length : newline;
      const start = from + Math.floor((at - from) / PART) * PART;
      const end = Math.min(to, start + PART + SHARED);
      starts.set(start, end);
      // The rest of the part is read with it.
      at = Math.max(at, Math.min(to, start + PART) - 1);
    }
  return [...starts]
    .sort(([a], [b]) => a - b)
    .map(([start, end]) => ({ start, end, text: Buffer.from(read(bytes.toString('latin1', start, end)), 'latin1') }));
}
