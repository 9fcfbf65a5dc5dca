/** The parts of a Hugging Face `tokenizer.json` that the demo model's tokenizer uses. */
export interface AddedToken {
  id: number;
  content: string;
  single_word: boolean;
  lstrip: boolean;
  rstrip: boolean;
  normalized: boolean;
  special: boolean;
}

export interface TokenizerFile {
  version: string;
  truncation: null;
  padding: null;
  added_tokens: AddedToken[];
  normalizer: null;
  pre_tokenizer: unknown;
  post_processor: null;
  decoder: unknown;
  model: {
    type: 'BPE';
    dropout: null;
    unk_token: null;
    continuing_subword_prefix: null;
    end_of_word_suffix: null;
    fuse_unk: boolean;
    byte_fallback: boolean;
    ignore_merges: boolean;
    vocab: Record<string, number>;
    merges: [string, string][];
  };
}

/**
 * Where text is cut before merging. A space never sticks to a word and every digit stands alone, so a name is the same
 * token in the question, in quotes and in a file: copying it is plain induction.
 */
export const WORD_PATTERN = '[A-Za-z]+|[0-9]| +|\\n+|[^A-Za-z0-9 \\n]+';

/** Control tokens in id order, from 0. */
export const CONTROL_TOKENS = [
  '<|pad|>',
  '<|system|>',
  '<|tools|>',
  '<|user|>',
  '<|assistant|>',
  '<|tool|>',
  '<|end|>',
  '<tool_call>',
  '</tool_call>',
] as const;
export type ControlToken = (typeof CONTROL_TOKENS)[number];

export function addedToken(id: number, content: string, special: boolean): AddedToken {
  return { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special };
}

/** A byte-level BPE file from the merged vocabulary and the added tokens. */
export function tokenizerFile(
  vocab: Record<string, number>,
  merges: [string, string][],
  added: AddedToken[],
): TokenizerFile {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: WORD_PATTERN }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab,
      merges,
    },
  };
}
