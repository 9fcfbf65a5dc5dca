import { BYTE_LETTERS, fromByteLetters } from './byte-alphabet.js';
import { type FindMerge, type Merge, mergeWord } from './merge-word.js';
import { type ControlToken, type TokenizerFile, WORD_PATTERN } from './tokenizer-file.js';

const CACHED_WORDS = 50_000;
/** Longer words are rare, and would fill the memory. */
const CACHED_LENGTH = 256;
/** Ids stay below this, so that a pair packs into one number. */
const PAIR_BASE = 65_536;

/**
 * Byte-level BPE of the demo model: same ids as the Hugging Face libraries give for the same `tokenizer.json`, but fast
 * enough to encode every request of a training run, and able to leave control tokens alone in text that others wrote.
 */
export class BpeTokenizer {
  readonly vocabSize: number;
  /** Ids of the control tokens. */
  readonly controlIds: ReadonlySet<number>;
  private readonly ids = new Map<string, number>();
  private readonly bytes: Buffer[] = [];
  private readonly merges = new Map<number, Merge>();
  private readonly cache = new Map<string, readonly number[]>();
  private readonly byteIds: number[];
  /** Matches added tokens, longest first; with and without the control tokens. */
  private readonly addedWithControl: RegExp | null;
  private readonly addedWithoutControl: RegExp | null;

  constructor(file: TokenizerFile) {
    for (const [token, id] of Object.entries(file.model.vocab)) {
      this.ids.set(token, id);
      this.bytes[id] = fromByteLetters(token);
    }
    this.byteIds = BYTE_LETTERS.map((letter) => this.ids.get(letter)!);
    file.model.merges.forEach(([left, right], rank) => {
      const key = this.ids.get(left)! * PAIR_BASE + this.ids.get(right)!;
      this.merges.set(key, { rank, id: this.ids.get(left + right)! });
    });
    for (const token of file.added_tokens) {
      this.ids.set(token.content, token.id);
      this.bytes[token.id] = Buffer.from(token.content, 'utf8');
    }
    this.vocabSize = this.bytes.length;
    this.controlIds = new Set(file.added_tokens.filter((token) => token.special).map((token) => token.id));
    this.addedWithControl = alternation(file.added_tokens.map((token) => token.content));
    this.addedWithoutControl = alternation(
      file.added_tokens.filter((token) => !token.special).map((token) => token.content),
    );
  }

  /** Id of a control token. */
  control(token: ControlToken): number {
    return this.ids.get(token)!;
  }

  /** Tokens that consist of letters alone, in id order: the pieces names are made of. */
  words(): string[] {
    const tokens = this.bytes.map((bytes) => bytes.toString('latin1'));
    return tokens.filter((token) => /^[A-Za-z]{1,10}$/.test(token));
  }

  /** Token ids of a text. With `control` false, the text of a control token is encoded as plain characters. */
  encode(text: string, control = false): number[] {
    const pattern = control ? this.addedWithControl : this.addedWithoutControl;
    const out: number[] = [];
    let from = 0;
    if (pattern) {
      for (const match of text.matchAll(pattern)) {
        this.encodePlain(text.slice(from, match.index), out);
        out.push(this.ids.get(match[0])!);
        from = match.index + match[0].length;
      }
    }
    this.encodePlain(text.slice(from), out);
    return out;
  }

  /** Bytes of one token, a control token's name for a control token; null for an unknown id. */
  tokenBytes(id: number): Uint8Array | null {
    return this.bytes[id] ?? null;
  }

  /** Text of token ids; bytes that are no UTF-8 become U+FFFD, unknown ids nothing. */
  decode(ids: readonly number[]): string {
    return Buffer.concat(ids.map((id) => this.bytes[id] ?? Buffer.alloc(0))).toString('utf8');
  }

  private encodePlain(text: string, out: number[]): void {
    for (const [word] of text.matchAll(WORD)) {
      let ids = this.cache.get(word);
      if (!ids) {
        const bytes = [...Buffer.from(word, 'utf8')].map((byte) => this.byteIds[byte]!);
        ids = mergeWord(bytes, this.findMerge);
        if (this.cache.size >= CACHED_WORDS) this.cache.clear();
        if (word.length <= CACHED_LENGTH) this.cache.set(word, ids);
      }
      for (const id of ids) out.push(id);
    }
  }

  private readonly findMerge: FindMerge = (left, right) => this.merges.get(left * PAIR_BASE + right);
}

const WORD = new RegExp(WORD_PATTERN, 'g');

function alternation(tokens: string[]): RegExp | null {
  if (tokens.length === 0) return null;
  const longestFirst = [...tokens].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
}
