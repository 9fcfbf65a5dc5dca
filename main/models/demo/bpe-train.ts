import { BYTE_LETTERS, toByteLetters } from './byte-alphabet.js';

export interface TrainedBpe {
  vocab: Record<string, number>;
  merges: [string, string][];
}

interface Word {
  parts: string[];
  count: number;
}

/**
 * Learns byte-pair merges (Sennrich et al. 2016) from counted words until the vocabulary has `size` tokens or no pair
 * occurs `minCount` times. `first` tokens keep the lowest ids, the 256 bytes follow. Ties go to the pair that sorts first.
 */
export function trainBpe(
  counts: ReadonlyMap<string, number>,
  size: number,
  minCount: number,
  first: readonly string[],
): TrainedBpe {
  const tokens = [...first, ...BYTE_LETTERS];
  const words = [...counts].map(([word, count]): Word => ({ parts: [...toByteLetters(word)], count }));
  const pairs = new PairIndex(words);
  const known = new Set(tokens);
  const merges: [string, string][] = [];
  while (tokens.length < size) {
    const best = pairs.mostFrequent(minCount);
    if (!best) break;
    merges.push(best);
    const merged = best[0] + best[1];
    if (!known.has(merged)) {
      known.add(merged);
      tokens.push(merged);
    }
    pairs.merge(best);
  }
  return { vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges };
}

/** How often every neighbouring pair occurs, and in which words. */
class PairIndex {
  private readonly counts = new Map<string, number>();
  private readonly where = new Map<string, Set<number>>();

  constructor(private readonly words: Word[]) {
    words.forEach((_, index) => {
      this.add(index, 1);
    });
  }

  mostFrequent(minCount: number): [string, string] | null {
    let best: string | null = null;
    let most = minCount - 1;
    for (const [pair, count] of this.counts) {
      if (count > most || (count === most && best !== null && pair < best)) {
        best = pair;
        most = count;
      }
    }
    return best === null ? null : (best.split(' ') as [string, string]);
  }

  merge([left, right]: [string, string]): void {
    for (const index of [...(this.where.get(`${left} ${right}`) ?? [])]) {
      this.add(index, -1);
      const word = this.words[index]!;
      const parts: string[] = [];
      for (let i = 0; i < word.parts.length; i++) {
        if (word.parts[i] === left && word.parts[i + 1] === right) {
          parts.push(left + right);
          i++;
        } else parts.push(word.parts[i]!);
      }
      word.parts = parts;
      this.add(index, 1);
    }
  }

  /** Adds (or with -1 takes out) the pairs of one word. */
  private add(index: number, sign: 1 | -1): void {
    const { parts, count } = this.words[index]!;
    for (let i = 0; i + 1 < parts.length; i++) {
      const pair = `${parts[i]} ${parts[i + 1]}`;
      const total = (this.counts.get(pair) ?? 0) + sign * count;
      if (total > 0) this.counts.set(pair, total);
      else this.counts.delete(pair);
      const places = this.where.get(pair);
      if (sign < 0) places?.delete(index);
      else if (places) places.add(index);
      else this.where.set(pair, new Set([index]));
    }
  }
}
