/** A tokenizer from Hugging Face's `tokenizer.json`. */
import { TackroomError } from '../../../contract/errors.js';
import { BpeTokenizer } from './bpe-tokenizer.js';
import { checkedTokenizer, type TokenizerJson } from './checked-file.js';
import { turnEndIds } from './end-tokens.js';
import { LibraryTokenizer } from './library-tokenizer.js';
import { type Cut, flatSteps, makeCut, type Step } from './pre-tokenizer.js';
import { isTokenId, MAX_TOKENS, unsupported } from './token-limits.js';
import type { AddedToken, Tokenizer } from './tokenizer.js';
import type { Vocabulary } from './vocab-tokenizer.js';

/** What the files beside it (`tokenizer_config.json`, `generation_config.json`, `config.json`) say. */
export interface TokenizerHints {
  bosToken?: string;
  eosToken?: string;
  addBos?: boolean;
  endIds?: readonly number[];
}

/**
 * `parsed`: what the JSON holds, from anywhere. Throws MODEL_UNSUPPORTED for a tokenizer that could not be reproduced
 * exactly, TOKENIZER_MISMATCH for a damaged one.
 */
export function tokenizerFromJson(parsed: unknown, hints: TokenizerHints = {}): Tokenizer {
  const file = checkedTokenizer(parsed);
  const { model } = file;
  const added: AddedToken[] = file.added_tokens.map((token) => ({
    id: token.id,
    content: token.content,
    control: token.special === true,
    lstrip: token.lstrip === true,
    rstrip: token.rstrip === true,
    singleWord: token.single_word === true,
  }));
  const idOf = (token: string | undefined): number | null =>
    token === undefined ? null : (added.find(({ content }) => content === token)?.id ?? vocabId(model.vocab, token));
  const bosId = idOf(hints.bosToken);
  const eosId = idOf(hints.eosToken);
  const firstOfAll = firstTemplateToken(file.post_processor);
  const vocabulary: Vocabulary = {
    tokens: vocabTokens(model.vocab),
    added,
    endIds: [
      ...(hints.endIds ?? []).filter((id) => isTokenId(id, MAX_TOKENS)),
      ...(eosId === null ? [] : [eosId]),
      ...turnEndIds(added),
    ],
    bosId: bosId ?? idOf(firstOfAll),
    eosId,
    addBos: hints.addBos ?? firstOfAll !== undefined,
    dropFirstSpace: dropsFirstSpace(file),
  };
  try {
    return build(file, vocabulary, idOf(model.unk_token ?? undefined));
  } catch (cause) {
    if (cause instanceof TackroomError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unsupported(why, cause);
  }
}

function build(file: TokenizerJson, vocabulary: Vocabulary, unknownId: number | null): Tokenizer {
  const { model } = file;
  if (model.type !== 'BPE')
    return new LibraryTokenizer(vocabulary, { ...file, added_tokens: [], post_processor: null, decoder: null }, {});
  if (model.continuing_subword_prefix || model.end_of_word_suffix) throw unsupported('it marks the parts of words');
  const steps = flatSteps(file.pre_tokenizer);
  const bytes = steps.some((step) => step.type === 'ByteLevel');
  return new BpeTokenizer(vocabulary, {
    merges: (model.merges ?? []).map(pairOf),
    alphabet: bytes ? 'bytes' : 'characters',
    cut: cutOf(file, steps),
    ignoreMerges: model.ignore_merges === true,
    byteFallback: model.byte_fallback === true,
    unknownId,
    fuseUnknown: model.fuse_unk === true,
  });
}

function cutOf(file: TokenizerJson, steps: Step[]): Cut {
  const inexact = steps.find(
    (step) => step.type === 'Split' && !['Isolated', 'Removed'].includes(String(step.behavior)) && !step.invert,
  );
  if (!inexact) return makeCut(file.normalizer ?? null, file.pre_tokenizer ?? null);
  // Gemma cuts at spaces, after its normalizer has replaced each of them.
  const pattern = (inexact.pattern as { String?: string }).String;
  const replaced = flatSteps(file.normalizer).some(
    (step) => step.type === 'Replace' && (step.pattern as { String?: string }).String === pattern,
  );
  if (pattern !== undefined && replaced && steps.length === 1) return makeCut(file.normalizer ?? null, null);
  throw unsupported(`it cuts with the behaviour ${String(inexact.behavior)}`);
}

function pairOf(merge: [string, string] | string): readonly [string, string] {
  if (typeof merge !== 'string') return merge;
  const space = merge.indexOf(' ', 1);
  return [merge.slice(0, space), merge.slice(space + 1)];
}

function vocabTokens(vocab: TokenizerJson['model']['vocab']): (string | undefined)[] {
  if (Array.isArray(vocab)) return vocab.map(([text]) => text);
  const tokens: (string | undefined)[] = [];
  for (const [text, id] of Object.entries(vocab)) tokens[id] = text;
  return Array.from(tokens);
}

function vocabId(vocab: TokenizerJson['model']['vocab'], token: string): number | null {
  if (!Array.isArray(vocab)) return Object.hasOwn(vocab, token) ? vocab[token]! : null;
  const at = vocab.findIndex(([text]) => text === token);
  return at < 0 ? null : at;
}

/** The token that the post-processor puts before every text, if it does. */
function firstTemplateToken(post: Step | null | undefined): string | undefined {
  if (!post) return undefined;
  if (post.type === 'Sequence') {
    for (const step of (post.processors as Step[] | undefined) ?? []) {
      const found = firstTemplateToken(step);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (post.type !== 'TemplateProcessing') return undefined;
  const single = post.single as { SpecialToken?: { id?: unknown } | null }[] | null | undefined;
  const id = Array.isArray(single) ? single[0]?.SpecialToken?.id : undefined;
  return typeof id === 'string' ? id : undefined;
}

function dropsFirstSpace(file: TokenizerJson): boolean {
  return flatSteps(file.decoder).some(
    (step) =>
      (step.type === 'Strip' && step.content === ' ' && Number(step.start) > 0) ||
      (step.type === 'Metaspace' && step.prepend_scheme !== 'never' && step.add_prefix_space !== false),
  );
}
