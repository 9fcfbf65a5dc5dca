/**
 * The independent look at what was cleaned: by rules that others wrote, and by searching for everything that was learnt. A line in
 * which either finds something must not leave.
 */
import { linesWith } from '../lines.js';
import type { Pseudonyms } from '../pseudonyms.js';
import { findByForeignRules } from './foreign-rules.js';
import { type Leak, LearntSearch } from './learnt-search.js';

export class SecondScan {
  readonly #learnt: LearntSearch;

  constructor(pseudonyms: Pseudonyms) {
    this.#learnt = new LearntSearch(pseudonyms.entities());
  }

  /** Numbers of the lines that hold something, from 0, in order. */
  lines(clean: Buffer): number[] {
    return linesWith(
      clean,
      this.leaks(clean).sort((a, b) => a.start - b.start),
    );
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
