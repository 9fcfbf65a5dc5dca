import { BYTE_LETTERS } from '../../models/demo/byte-alphabet.js';
import { type FindMerge, type Merge, mergeWord } from '../../models/demo/merge-word.js';
import { byteToken, characterTokenBytes } from './byte-tokens.js';
import type { Cut } from './pre-tokenizer.js';
import { VocabTokenizer, type Vocabulary } from './vocab-tokenizer.js';
import { WordCache } from './word-cache.js';

export interface BpeOptions {
  /** Pairs in order of rank. */
  merges: Iterable<readonly [string, string]>;
  /** What a word is made of before merging: stand-ins for its bytes, or its characters. */
  alphabet: 'bytes' | 'characters';
  cut: Cut;
  /** A word that is a token as a whole is not merged. */
  ignoreMerges: boolean;
  /** Characters that are no token become `<0xXX>` tokens. */
  byteFallback: boolean;
  unknownId: number | null;
  /** Neighbouring unknown characters become one unknown token. */
  fuseUnknown: boolean;
}

/** Ids stay below this, so that a pair packs into one exact number. */
const PAIR_BASE = 2 ** 24;

const BYTE_OF = new Map(BYTE_LETTERS.map((letter, byte) => [letter, byte]));

/** Byte-pair encoding by ranked merges, over bytes (GPT-2 and its followers) or over characters with byte fallback. */
export class BpeTokenizer extends VocabTokenizer {
  readonly #options: BpeOptions;
  readonly #merges = new Map<number, Merge>();
  readonly #cache = new WordCache();

  constructor(vocabulary: Vocabulary, options: BpeOptions) {
    super(vocabulary);
    this.#options = options;
    let rank = 0;
    for (const [left, right] of options.merges) {
      const leftId = this.plainIds.get(left);
      const rightId = this.plainIds.get(right);
      const id = this.plainIds.get(left + right);
      if (leftId !== undefined && rightId !== undefined && id !== undefined) {
        const key = leftId * PAIR_BASE + rightId;
        if (!this.#merges.has(key)) this.#merges.set(key, { rank, id });
      }
      rank++;
    }
  }

  protected override encodePlain(text: string, { first }: { first: boolean }, out: number[]): void {
    for (const word of this.#options.cut(text, first)) {
      let ids = this.#cache.get(word);
      if (!ids) {
        ids = this.#encodeWord(word);
        this.#cache.set(word, ids);
      }
      for (const id of ids) out.push(id);
    }
  }

  protected override bytesOfToken(_id: number, text: string): Uint8Array {
    if (this.#options.alphabet === 'characters') return characterTokenBytes(text);
    const bytes: number[] = [];
    for (const letter of text) {
      const byte = BYTE_OF.get(letter);
      // A token that is not spelled in stand-ins stands for its own text.
      if (byte === undefined) return Buffer.from(text, 'utf8');
      bytes.push(byte);
    }
    return Buffer.from(bytes);
  }

  #encodeWord(word: string): readonly number[] {
    if (this.#options.ignoreMerges) {
      const whole = this.plainIds.get(word);
      if (whole !== undefined) return [whole];
    }
    return mergeWord(this.#symbols(word), this.#findMerge);
  }

  #symbols(word: string): number[] {
    const { unknownId, fuseUnknown } = this.#options;
    const ids: number[] = [];
    let unknownBefore = false;
    for (const character of word) {
      const id = this.plainIds.get(character);
      const bytes = id === undefined ? this.#fallback(character) : [];
      if (id !== undefined) ids.push(id);
      else if (bytes) ids.push(...bytes);
      else if (unknownId !== null && !(fuseUnknown && unknownBefore)) ids.push(unknownId);
      unknownBefore = id === undefined && !bytes;
    }
    return ids;
  }

  #fallback(character: string): number[] | null {
    if (!this.#options.byteFallback) return null;
    const ids = [...Buffer.from(character, 'utf8')].map((byte) => this.plainIds.get(byteToken(byte)));
    return ids.every((id) => id !== undefined) ? ids : null;
  }

  readonly #findMerge: FindMerge = (left, right) => this.#merges.get(left * PAIR_BASE + right);
}
