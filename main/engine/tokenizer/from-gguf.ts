/** A tokenizer from the metadata of a GGUF file (keys `tokenizer.ggml.*`, as llama.cpp reads them). */
import { TackroomError } from '../../../contract/errors.js';
import type { GgufHeader, GgufValue } from '../../models/gguf-header.js';
import { BpeTokenizer } from './bpe-tokenizer.js';
import { turnEndIds } from './end-tokens.js';
import { preTokenization } from './pre-patterns.js';
import { BYTE_LETTERS_STEP, makeCut, splitAt } from './pre-tokenizer.js';
import { SpmTokenizer } from './spm-tokenizer.js';
import { MAX_ADDED_UNITS, MAX_TOKENS } from './token-limits.js';
import type { AddedToken, Tokenizer } from './tokenizer.js';
import type { Vocabulary } from './vocab-tokenizer.js';

const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const BYTE = 6;

/** Throws MODEL_UNSUPPORTED for a kind of tokenizer that is not known here, MODEL_CORRUPT when its parts do not fit. */
export function tokenizerFromGguf({ metadata }: Pick<GgufHeader, 'metadata'>): Tokenizer {
  const keys = new Keys(metadata);
  const kind = keys.text('model');
  if (kind === undefined)
    throw new TackroomError('MODEL_UNSUPPORTED', 'The GGUF file has no tokenizer.', 'Use a file that holds one.');
  if (kind === 'gpt2') return byteLevel(keys);
  if (kind === 'llama') return sentencePiece(keys);
  throw new TackroomError(
    'MODEL_UNSUPPORTED',
    `The tokenizer "${kind}" of the GGUF file is not supported.`,
    'Use a model with a "gpt2" or "llama" tokenizer.',
  );
}

function byteLevel(keys: Keys): Tokenizer {
  const pre = preTokenization(keys.text('pre') ?? 'gpt-2');
  const merges = keys.strings('merges');
  if (!merges || merges.length > MAX_TOKENS) throw keys.corrupt('merges');
  return new BpeTokenizer(vocabularyOf(keys, pre.addBos, false), {
    merges: merges.map((merge) => {
      const space = merge.indexOf(' ', 1);
      if (space < 0) throw keys.corrupt('merges');
      return [merge.slice(0, space), merge.slice(space + 1)] as const;
    }),
    alphabet: 'bytes',
    cut: makeCut(null, { type: 'Sequence', pretokenizers: [...pre.patterns.map(splitAt), BYTE_LETTERS_STEP] }),
    ignoreMerges: pre.ignoreMerges,
    byteFallback: false,
    unknownId: null,
    fuseUnknown: false,
  });
}

function sentencePiece(keys: Keys): Tokenizer {
  const addSpacePrefix = keys.flag('add_space_prefix') ?? true;
  const vocabulary = vocabularyOf(keys, true, addSpacePrefix);
  const types = keys.numbers('token_type');
  const scores = keys.numbers('scores');
  if (!scores || scores.length !== vocabulary.tokens.length) throw keys.corrupt('scores');
  return new SpmTokenizer(vocabulary, {
    scores,
    isNormal: (id) => (types?.[id] ?? NORMAL) === NORMAL,
    isByte: (id) => types?.[id] === BYTE,
    addSpacePrefix,
    unknownId: keys.id('unknown_token_id'),
  });
}

function vocabularyOf(keys: Keys, addBosDefault: boolean, dropFirstSpace: boolean): Vocabulary {
  const tokens = keys.strings('tokens');
  if (!tokens || tokens.length === 0 || tokens.length > MAX_TOKENS) throw keys.corrupt('tokens');
  const types = keys.numbers('token_type');
  if (types && types.length !== tokens.length) throw keys.corrupt('token_type');
  const ends = ['eos_token_id', 'eot_token_id', 'eom_token_id'].map((key) => keys.id(key)).filter((id) => id !== null);
  const added: AddedToken[] = [];
  tokens.forEach((content, id) => {
    const type = types?.[id] ?? NORMAL;
    if (type === CONTROL || type === UNKNOWN || type === USER_DEFINED)
      added.push({ id, content, control: type !== USER_DEFINED });
    // An end of turn that the file calls an ordinary token would otherwise be open to everyone.
    else if (ends.includes(id)) added.push({ id, content, control: true });
  });
  const longest = added.reduce((most, { content }) => Math.max(most, content.length), 0);
  if (longest > MAX_ADDED_UNITS) throw keys.corrupt(`tokens: a control token has ${longest} characters`);
  return {
    tokens,
    added,
    endIds: [...ends, ...turnEndIds(added)],
    bosId: keys.id('bos_token_id'),
    eosId: keys.id('eos_token_id'),
    addBos: keys.flag('add_bos_token') ?? addBosDefault,
    dropFirstSpace,
  };
}

/** The `tokenizer.ggml.` keys with their expected types. */
class Keys {
  constructor(private readonly metadata: ReadonlyMap<string, GgufValue>) {}

  corrupt(key: string): TackroomError {
    return new TackroomError(
      'MODEL_CORRUPT',
      `The GGUF file has no usable tokenizer.ggml.${key}.`,
      'Copy or download the model again; the file is left as it is.',
    );
  }

  text(key: string): string | undefined {
    const value = this.#get(key);
    return typeof value === 'string' ? value : undefined;
  }

  flag(key: string): boolean | undefined {
    const value = this.#get(key);
    return typeof value === 'boolean' ? value : undefined;
  }

  /** A token id, null where the file names none. */
  id(key: string): number | null {
    const value = this.#get(key);
    if (typeof value !== 'number') return null;
    if (!Number.isInteger(value) || value < 0 || value >= (this.strings('tokens')?.length ?? 0))
      throw this.corrupt(key);
    return value;
  }

  strings(key: string): string[] | undefined {
    const value = this.#get(key);
    return Array.isArray(value) ? value : undefined;
  }

  numbers(key: string): ArrayLike<number> | undefined {
    const value = this.#get(key);
    if (typeof value !== 'object' || Array.isArray(value)) return undefined;
    return value instanceof BigUint64Array || value instanceof BigInt64Array ? undefined : value;
  }

  #get(key: string): GgufValue | undefined {
    return this.metadata.get(`tokenizer.ggml.${key}`);
  }
}
