/** Checks a parsed `tokenizer.json`, which may come from anywhere, so that what is built of it can trust its shape. */
import { checkedSteps } from './checked-steps.js';
import type { Step } from './pre-tokenizer.js';
import { damaged, isTokenId, MAX_ADDED_UNITS, MAX_TOKENS, quoted, unsupported } from './token-limits.js';

/** The parts of a `tokenizer.json` that are read here. */
export interface TokenizerJson {
  added_tokens: {
    id: number;
    content: string;
    special?: boolean;
    lstrip?: boolean;
    rstrip?: boolean;
    single_word?: boolean;
  }[];
  normalizer: Step | null;
  pre_tokenizer: Step | null;
  post_processor: Step | null;
  decoder: Step | null;
  model: {
    type: 'BPE' | 'Unigram' | 'WordPiece';
    vocab: Record<string, number> | [string, number][];
    merges?: ([string, string] | string)[];
    unk_token?: string | null;
    unk_id?: number | null;
    fuse_unk?: boolean;
    byte_fallback?: boolean;
    ignore_merges?: boolean;
    max_input_chars_per_word?: number | null;
    continuing_subword_prefix?: string | null;
    end_of_word_suffix?: string | null;
  };
}

type Model = TokenizerJson['model'];

/** UTF-16 units of a Unigram token: the work for each character grows with their square. */
const MAX_UNIGRAM_UNITS = 128;
/** Characters of a word that WordPiece looks at; the work grows with their square. */
const MAX_WORDPIECE_CHARS = 256;

/**
 * The same values with absent steps as null. Throws TOKENIZER_MISMATCH for a part that is no tokenizer's,
 * MODEL_UNSUPPORTED for a kind that is not run here. Every id is below the number of tokens and a bounded rest.
 */
export function checkedTokenizer(parsed: unknown): TokenizerJson {
  const file = asObject(parsed, 'is no object');
  const model = asObject(file.model, 'has no vocabulary');
  const added = file.added_tokens ?? [];
  if (!Array.isArray(added)) throw damaged('has added tokens that are no list');
  const type = typeOf(model);
  const entries = checkVocab(model.vocab, type, added.length);
  for (const token of added) checkAdded(token, entries + added.length);
  checkMerges(model.merges);
  checkOptions(model, entries);
  return {
    ...file,
    added_tokens: added,
    normalizer: checkedSteps(file.normalizer, 'normalizer'),
    pre_tokenizer: checkedSteps(file.pre_tokenizer, 'pre_tokenizer'),
    post_processor: checkedSteps(file.post_processor, 'post_processor'),
    decoder: checkedSteps(file.decoder, 'decoder'),
    model: { ...model, type } as unknown as Model,
  };
}

function typeOf(model: Record<string, unknown>): Model['type'] {
  const { type } = model;
  if (type === undefined || type === null)
    return Array.isArray(model.vocab) ? 'Unigram' : model.merges ? 'BPE' : 'WordPiece';
  if (type === 'BPE' || type === 'Unigram' || type === 'WordPiece') return type;
  throw unsupported(`it is of the kind ${quoted(type)}`);
}

/** Returns the number of entries. */
function checkVocab(vocab: unknown, type: Model['type'], added: number): number {
  if (typeof vocab !== 'object' || vocab === null || Array.isArray(vocab) !== (type === 'Unigram'))
    throw damaged('has no vocabulary');
  if (Array.isArray(vocab)) {
    for (const entry of vocab) {
      const [text, score] = Array.isArray(entry) ? entry : [];
      if (typeof text !== 'string' || !Number.isFinite(score))
        throw damaged(`has the vocabulary entry ${quoted(text)}`);
      if (text.length > MAX_UNIGRAM_UNITS) throw unsupported(`it has a token of ${text.length} characters`);
    }
    if (vocab.length === 0 || vocab.length > MAX_TOKENS) throw damaged(`has ${vocab.length} tokens`);
    return vocab.length;
  }
  const ids = Object.values(vocab);
  if (ids.length > MAX_TOKENS) throw damaged(`has ${ids.length} tokens`);
  for (const id of ids) if (!isTokenId(id, ids.length + added)) throw damaged(`has the id ${quoted(id)}`);
  return ids.length;
}

function checkAdded(token: unknown, count: number): void {
  const { id, content } = asObject(token, 'has an added token that is no object');
  if (typeof content !== 'string') throw damaged('has an added token without a text');
  if (!isTokenId(id, count)) throw damaged(`has the id ${quoted(id)}`);
  if (content.length > MAX_ADDED_UNITS) throw unsupported(`it has an added token of ${content.length} characters`);
}

function checkMerges(merges: unknown): void {
  if (merges === undefined || merges === null) return;
  if (!Array.isArray(merges) || merges.length > MAX_TOKENS) throw damaged('has no usable list of merges');
  for (const merge of merges) {
    const fits =
      typeof merge === 'string'
        ? merge.indexOf(' ', 1) > 0
        : Array.isArray(merge) && merge.length === 2 && merge.every((part) => typeof part === 'string');
    if (!fits) throw damaged(`has the merge ${quoted(merge)}`);
  }
}

function checkOptions(model: Record<string, unknown>, entries: number): void {
  for (const key of ['unk_token', 'continuing_subword_prefix', 'end_of_word_suffix'])
    if (!['string', 'undefined'].includes(typeof (model[key] ?? undefined)))
      throw damaged(`has a ${key} that is no text`);
  const { unk_id: unknown, max_input_chars_per_word: longest } = model;
  if (unknown !== undefined && unknown !== null && !(isTokenId(unknown, entries) && unknown < entries))
    throw damaged(`has the unknown token ${quoted(unknown)}`);
  if (longest === undefined || longest === null) return;
  if (!Number.isInteger(longest) || (longest as number) < 1 || (longest as number) > MAX_WORDPIECE_CHARS)
    throw unsupported(`it takes words of ${quoted(longest)} characters`);
}

function asObject(value: unknown, otherwise: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged(otherwise);
  return value as Record<string, unknown>;
}
