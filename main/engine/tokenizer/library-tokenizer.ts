import { Tokenizer as LibraryModel } from '@huggingface/tokenizers';
import { TackroomError } from '../../../contract/errors.js';
import { characterTokenBytes } from './byte-tokens.js';
import { VocabTokenizer, type Vocabulary } from './vocab-tokenizer.js';

/** UTF-16 units that are merged in one go: the library keeps several objects for each. */
const MAX_UNITS = 2 ** 17;

/**
 * Unigram and WordPiece models of a `tokenizer.json`, merged by `@huggingface/tokenizers`. Their normalizers fold
 * characters together, so `decode` gives the normal form of a text, not always the text.
 */
export class LibraryTokenizer extends VocabTokenizer {
  readonly #library: LibraryModel;

  /** `file`: the checked tokenizer.json without added tokens, post-processor and decoder. */
  constructor(vocabulary: Vocabulary, file: object, config: object) {
    super(vocabulary);
    this.#library = new LibraryModel(file, config);
  }

  protected override encodePlain(text: string, _place: unknown, out: number[]): void {
    try {
      if (text.length > MAX_UNITS) throw new RangeError(`more than ${MAX_UNITS} characters`);
      const { ids } = this.#library.encode(text, { add_special_tokens: false });
      // Without an unknown token the library gives null for what it cannot spell.
      for (const id of ids as (number | null | undefined)[]) if (typeof id === 'number') out.push(id);
    } catch (cause) {
      throw new TackroomError(
        'UNSUPPORTED',
        `The tokenizer of this model cannot encode a text of ${text.length} characters.`,
        'Shorten the text or use a model with a BPE tokenizer.',
        { cause },
      );
    }
  }

  protected override bytesOfToken(_id: number, text: string): Uint8Array {
    return characterTokenBytes(text);
  }
}
