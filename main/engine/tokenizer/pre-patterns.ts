/**
 * Where GGUF files of `tokenizer.ggml.model` "gpt2" cut a text before merging, by `tokenizer.ggml.pre`: the regular
 * expressions of llama.cpp (`src/llama-vocab.cpp`), applied one after the other; what none matches is a piece of its own.
 */
import { TackroomError } from '../../../contract/errors.js';

export interface PreTokenization {
  patterns: readonly string[];
  /** A piece that is a token as a whole is not merged. */
  ignoreMerges: boolean;
  /** BOS where the file does not say. */
  addBos: boolean;
}

const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)";
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const WORDS = '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+';
const SIGNS_AND_SPACE = ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

const PLAIN: PreTokenization = { patterns: [GPT2], ignoreMerges: false, addBos: false };
const SINGLE_DIGITS: PreTokenization = { patterns: ['\\p{N}', GPT2], ignoreMerges: false, addBos: false };
const LLAMA3: PreTokenization = {
  patterns: [`${CONTRACTIONS}|${WORDS}|\\p{N}{1,3}|${SIGNS_AND_SPACE}`],
  ignoreMerges: true,
  addBos: true,
};
const QWEN2: PreTokenization = {
  patterns: [`${CONTRACTIONS}|${WORDS}|\\p{N}|${SIGNS_AND_SPACE}`],
  ignoreMerges: false,
  addBos: false,
};

const BY_NAME: Readonly<Record<string, PreTokenization>> = {
  'gpt-2': PLAIN,
  phi2: PLAIN,
  olmo: PLAIN,
  smollm: SINGLE_DIGITS,
  starcoder: SINGLE_DIGITS,
  refact: SINGLE_DIGITS,
  codeshell: SINGLE_DIGITS,
  'command-r': SINGLE_DIGITS,
  'llama-bpe': LLAMA3,
  llama3: LLAMA3,
  'llama-v3': LLAMA3,
  lfm2: LLAMA3,
  qwen2: QWEN2,
  'deepseek-r1-qwen': QWEN2,
};

/** Throws MODEL_UNSUPPORTED for a name that is not known: guessing would give ids the model never saw. */
export function preTokenization(name: string): PreTokenization {
  const found = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
  if (found) return found;
  throw new TackroomError(
    'MODEL_UNSUPPORTED',
    `The model cuts its text in a way that is not known here ("${name}").`,
    `Use a model with one of: ${Object.keys(BY_NAME).join(', ')}.`,
  );
}

/** Every expression used here. */
export function knownPatterns(): string[] {
  return Object.values(BY_NAME).flatMap(({ patterns }) => patterns);
}

/** What Hugging Face's ByteLevel pre-tokenizer cuts at when it is told to use its own expression. */
export const BYTE_LEVEL_PATTERN = `${GPT2}|\\s+`;
