import { type FindMerge, type Merge, mergeWord } from '../../models/demo/merge-word.js';
import { byteToken, characterTokenBytes } from './byte-tokens.js';
import { VocabTokenizer, type Vocabulary } from './vocab-tokenizer.js';
import { WordCache } from './word-cache.js';

export interface SpmOptions {
  /** Score by id; of all neighbours that make a token, the one with the highest score merges first. */
  scores: ArrayLike<number>;
  /** Whether an id is an ordinary token: control, byte and user-defined tokens never come from merging. */
  isNormal(id: number): boolean;
  isByte(id: number): boolean;
  /** A space is put before a text and after each added token. */
  addSpacePrefix: boolean;
  unknownId: number | null;
}

const SPACE = '\u2581';
const CODE_POINTS = 2 ** 21;
const PAIR_BASE = 2 ** 24;
/** Pairs remembered, with and without a merge; beyond this they are looked up again. */
const MAX_PAIRS = 2_000_000;

/** SentencePiece's BPE by scores with byte fallback, as GGUF files of `tokenizer.ggml.model` "llama" hold it. */
export class SpmTokenizer extends VocabTokenizer {
  readonly #options: SpmOptions;
  /** Rank by id: 0 for the highest score; equal scores have equal ranks. */
  readonly #ranks: Int32Array;
  readonly #texts: string[] = [];
  readonly #byteIds: (number | undefined)[];
  /** Neighbouring characters that stand in some token: a word may be cut wherever a pair does not. */
  readonly #joined = new Set<number>();
  readonly #pairs = new Map<number, Merge | undefined>();
  readonly #cache = new WordCache();

  constructor(vocabulary: Vocabulary, options: SpmOptions) {
    super(vocabulary, (id) => options.isNormal(id));
    this.#options = options;
    const size = vocabulary.tokens.length;
    this.#ranks = new Int32Array(size);
    const distinct = [...new Set(Array.from({ length: size }, (_, id) => options.scores[id] ?? 0))].sort(
      (a, b) => b - a,
    );
    const rankOf = new Map(distinct.map((score, rank) => [score, rank]));
    this.#byteIds = Array.from({ length: 256 });
    const byteOf = new Map(Array.from({ length: 256 }, (_, byte) => [byteToken(byte), byte]));
    vocabulary.tokens.forEach((text = '', id) => {
      this.#texts[id] = text;
      this.#ranks[id] = rankOf.get(options.scores[id] ?? 0)!;
      const byte = options.isByte(id) ? byteOf.get(text) : undefined;
      if (byte !== undefined) this.#byteIds[byte] = id;
    });
    for (const text of this.plainIds.keys()) {
      let before = -1;
      for (const character of text) {
        const point = character.codePointAt(0)!;
        if (before >= 0) this.#joined.add(before * CODE_POINTS + point);
        before = point;
      }
    }
  }

  protected override encodePlain(
    text: string,
    { first, afterAdded }: { first: boolean; afterAdded: boolean },
    out: number[],
  ): void {
    const prefix = this.#options.addSpacePrefix && (first || afterAdded) ? SPACE : '';
    const marked = prefix + text.replaceAll(' ', SPACE);
    for (const word of this.#words(marked)) {
      let ids = this.#cache.get(word);
      if (!ids) {
        ids = this.#encodeWord(word);
        this.#cache.set(word, ids);
      }
      for (const id of ids) out.push(id);
    }
  }

  protected override bytesOfToken(id: number, text: string): Uint8Array {
    return this.#options.isByte(id) || this.#options.isNormal(id)
      ? characterTokenBytes(text)
      : Buffer.from(text, 'utf8');
  }

  /** Cut where no merge can reach across; each piece is short and often seen before. */
  *#words(text: string): Generator<string> {
    let from = 0;
    let at = 0;
    let before = -1;
    while (at < text.length) {
      const point = text.codePointAt(at)!;
      if (before >= 0 && !this.#joined.has(before * CODE_POINTS + point)) {
        yield text.slice(from, at);
        from = at;
      }
      before = point;
      at += point > 0xffff ? 2 : 1;
    }
    if (from < text.length) yield text.slice(from);
  }

  #encodeWord(word: string): number[] {
    const whole = this.plainIds.get(word);
    if (whole !== undefined && [...word].length === 1) return [whole];
    const texts = this.#texts;
    const known = texts.length;
    const ids: number[] = [];
    // Characters that are no token take part in merging under ids behind the vocabulary.
    for (const character of word) {
      const id = this.plainIds.get(character);
      if (id === undefined) texts.push(character);
      ids.push(id ?? texts.length - 1);
    }
    const unknown = texts.length > known;
    const merged = mergeWord(ids, unknown ? this.#lookUpMerge : this.#findMerge);
    const out = unknown ? merged.flatMap((id) => (id < known ? [id] : this.#fallback(texts[id]!))) : merged;
    texts.length = known;
    return out;
  }

  #fallback(character: string): number[] {
    const ids = [...Buffer.from(character, 'utf8')].map((byte) => this.#byteIds[byte]);
    if (ids.every((id) => id !== undefined)) return ids;
    return this.#options.unknownId === null ? [] : [this.#options.unknownId];
  }

  readonly #findMerge: FindMerge = (left, right) => {
    const key = left * PAIR_BASE + right;
    const known = this.#pairs.get(key);
    if (known || this.#pairs.has(key)) return known;
    const merge = this.#lookUpMerge(left, right);
    if (this.#pairs.size >= MAX_PAIRS) this.#pairs.clear();
    this.#pairs.set(key, merge);
    return merge;
  };

  readonly #lookUpMerge: FindMerge = (left, right) => {
    const id = this.plainIds.get(this.#texts[left]! + this.#texts[right]!);
    return id === undefined ? undefined : { rank: this.#ranks[id]!, id };
  };
}
