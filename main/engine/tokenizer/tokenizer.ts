/** Text to token ids and back, whatever file the tokenizer came from. */

export interface EncodeOptions {
  /** Whether the text of a control token becomes that token. User-defined tokens are ordinary vocabulary either way. */
  special: boolean;
  /**
   * Ascending positions in the text (UTF-16 units) that no added token may span: `p` lies between `text[p - 1]` and
   * `text[p]`. Only the matching of added tokens sees them; everything else is encoded as one text.
   */
  breaks?: readonly number[];
}

export interface Tokenizer {
  /** Highest id + 1. */
  readonly vocabSize: number;
  /** Tokens that end an answer. */
  readonly endIds: ReadonlySet<number>;
  readonly bosId: number | null;
  readonly eosId: number | null;
  /** Whether a prompt begins with `bosId`. `encode` never adds it. */
  readonly addBos: boolean;
  /** Added tokens (control and user-defined) by text. */
  readonly added: ReadonlyMap<string, AddedToken>;
  /**
   * Lone surrogates are encoded as U+FFFD; what a vocabulary cannot spell at all is left out, as the reference
   * tokenizers do (some lack the bytes of unassigned planes). Time grows a little faster than the length of the text, never its square.
   */
  encode(text: string, options: EncodeOptions): number[];
  /** Text of the ids with control tokens spelled out; bytes that are no UTF-8 become U+FFFD, unknown ids nothing. */
  decode(ids: readonly number[]): string;
  /**
   * The bytes behind `decode`, before any of them is judged. `continued`: other tokens stand before these, so a space at
   * the beginning is part of the text.
   */
  decodeBytes(ids: readonly number[], options?: { continued?: boolean }): Uint8Array;
  tokenToId(token: string): number | null;
  idToToken(id: number): string | null;
}

export interface AddedToken {
  id: number;
  content: string;
  /** Steers the model (turns, ends); text that others wrote must never become one. */
  control: boolean;
  /** The token swallows white space on this side (Hugging Face `lstrip`, `rstrip`). */
  lstrip?: boolean;
  rstrip?: boolean;
  /** Only where no letter or digit touches it. */
  singleWord?: boolean;
}
