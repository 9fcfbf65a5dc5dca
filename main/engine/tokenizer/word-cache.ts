/** The ids of words met before. Bounded: a full cache is emptied, and long words (rare, each different) are not kept. */
const MAX_WORDS = 50_000;
const MAX_LENGTH = 256;

export class WordCache {
  readonly #words = new Map<string, readonly number[]>();

  get(word: string): readonly number[] | undefined {
    return this.#words.get(word);
  }

  set(word: string, ids: readonly number[]): void {
    if (word.length > MAX_LENGTH) return;
    if (this.#words.size >= MAX_WORDS) this.#words.clear();
    this.#words.set(word, ids);
  }
}
