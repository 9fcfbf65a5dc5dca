/**
 * The independent look at what was cleaned: by rules that others wrote, and by searching for everything that was learnt. A line in
 * which either finds something must not leave.
 */
import type { Pseudonyms } from '../pseudonyms.js';
import { findByForeignRules } from './foreign-rules.js';
import { type Leak, LearntSearch } from './learnt-search.js';

const NEWLINE = 10;

export class SecondScan {
  readonly #learnt: LearntSearch;

  constructor(pseudonyms: Pseudonyms) {
    this.#learnt = new LearntSearch(pseudonyms.entities());
  }

  /** Numbers of the lines that hold something, from 0, in order. */
  lines(clean: Buffer): number[] {
    return linesOf(clean, this.leaks(clean));
  }

  /** Gives its memory back; it is of no use afterwards. */
  close(): void {
    this.#learnt.close();
  }

  /** What was found and where; never the values. */
  leaks(clean: Buffer): Leak[] {
    return [
      ...this.#learnt.find(clean),
      ...findByForeignRules(clean).map(({ start, end, rule }) => ({ start, end, family: `rule ${rule}` })),
    ];
  }
}

function linesOf(bytes: Buffer, ranges: readonly { start: number; end: number }[]): number[] {
  const lines = new Set<number>();
  let line = 0;
  let lineEnd = endOfLine(bytes, 0);
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    for (; lineEnd < start; lineEnd = endOfLine(bytes, lineEnd + 1)) line++;
    lines.add(line);
    for (let at = lineEnd, n = line; at < end - 1; at = endOfLine(bytes, at + 1)) lines.add(++n);
  }
  return [...lines].sort((a, b) => a - b);
}

function endOfLine(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(NEWLINE, from);
  return at < 0 ? bytes.length : at;
}
