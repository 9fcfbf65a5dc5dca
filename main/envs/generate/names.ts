import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../native/addon.js';
import { heldWords, type Split } from './pools.js';
import type { Rng } from './random.js';

const ONSETS = 'b c d f g h j k l m n p r s t v w z bl br cl cr dr fl fr gl gr kn pl pr qu sc sk sl sp st tr tw'.split(
  ' ',
);
const VOWELS = 'a e i o u y ai ea ee ie oa oo ou'.split(' ');
const CODAS = ['', '', '', 'n', 'r', 'l', 's', 't', 'm', 'd', 'x', 'ck', 'nd', 'st'];
const SYLLABLES = [1, 2, 2, 2, 3];
const PIECES = [1, 2, 2, 3, 3];
const HELD = heldWords();

let commonWords: string[] | undefined;
function common(): string[] {
  commonWords ??= readFileSync(join(packageRoot(), 'resources', 'demo-model', 'words.txt'), 'utf8')
    .trim()
    .split('\n')
    .filter((word) => !HELD.has(word));
  return commonWords;
}

export interface NameOptions {
  /** Sub-word pieces to build names from, with the share of invented names made that way. Pre-training only. */
  pieces?: readonly string[];
  pieceShare?: number;
}

/** Hands out the names of one task, each at most once. */
export class NameSource {
  private readonly used = new Set<string>();
  /** Share of names that are invented instead of taken from a pool. */
  readonly inventedShare: number;

  constructor(
    private readonly rng: Rng,
    private readonly split: Split,
    private readonly options: NameOptions = {},
  ) {
    this.inventedShare = split === 'train' ? 0.5 : 0;
  }

  /** A pool word, or in the training split as often an invented one, that this task does not use yet. */
  pick(pool: readonly string[]): string {
    for (let attempt = 0; attempt < 40; attempt++) {
      const name = this.rng.chance(this.inventedShare) ? this.invent() : this.rng.pick(pool);
      if (this.take(name)) return name;
    }
    return this.syllables();
  }

  /** Marks a name as used; false when it already was. */
  take(name: string): boolean {
    if (this.used.has(name)) return false;
    this.used.add(name);
    return true;
  }

  /** A training-split name: common word, syllables, or a chain of sub-word pieces. Never a held-out word. */
  invent(): string {
    for (;;) {
      const name = this.candidate();
      if (!HELD.has(name.toLowerCase())) return name;
    }
  }

  /** A pronounceable word; in either split. */
  syllables(count = this.rng.pick(SYLLABLES)): string {
    let word = '';
    do {
      for (let i = 0; i < count; i++) word += this.rng.pick(ONSETS) + this.rng.pick(VOWELS) + this.rng.pick(CODAS);
    } while (this.split === 'train' && HELD.has(word));
    return word;
  }

  private candidate(): string {
    const { pieces, pieceShare = 0 } = this.options;
    if (pieces && this.rng.chance(pieceShare)) {
      return Array.from({ length: this.rng.pick(PIECES) }, () => this.rng.pick(pieces)).join('');
    }
    if (!this.rng.chance(0.6)) return this.syllables();
    const word = this.rng.pick(common());
    const form = this.rng.next();
    if (form < 0.7) return word;
    if (form < 0.8) return word[0]!.toUpperCase() + word.slice(1);
    if (form < 0.88) return `${word}_${this.rng.pick(common())}`;
    return word + this.rng.int(1, 9);
  }
}
