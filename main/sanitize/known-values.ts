/** Values learnt once are found wherever they stand again as a token. */

import { matchesOf } from './matches.js';
import { isSharedUser } from './personal.js';
import type { Entity } from './pseudonyms.js';
import type { Span } from './span.js';

const MIN_LENGTH: Record<string, number> = { user: 4, person: 5, host: 5, password: 6 };
const MAX_VALUES = 4000;

export class KnownValues {
  readonly #families = new Map<string, string>();
  #regex: RegExp | null = null;

  constructor(entities: readonly Entity[]) {
    for (const { family, value } of entities.slice(0, MAX_VALUES))
      if (value.length >= (MIN_LENGTH[family] ?? 8) && !isSharedUser(value)) this.#families.set(value, family);
    const values = [...this.#families.keys()].sort((a, b) => b.length - a.length);
    if (values.length > 0)
      this.#regex = new RegExp(
        `(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt]))(?:${values.map((value) => value.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|')})(?![A-Za-z0-9])`,
        'g',
      );
  }

  find(text: string): Span[] {
    if (!this.#regex) return [];
    return [...matchesOf(this.#regex, text)].map((match) => {
      const family = this.#families.get(match[0])!;
      return {
        start: match.index,
        end: match.index + match[0].length,
        family,
        certainty: family === 'user' || family === 'person' || family === 'host' ? 'personal' : 'keyValue',
        value: match[0],
      };
    });
  }
}
