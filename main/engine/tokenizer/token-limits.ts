/** What no vocabulary has, so that one number of a damaged file claims no memory and no rank outgrows its key. */
import { TackroomError } from '../../../contract/errors.js';

/** Tokens, ids and merges; `mergeWord` orders ranks below this exactly. */
export const MAX_TOKENS = 2 ** 21;
/** UTF-16 units of an added token: each place of a text may be compared with so many. */
export const MAX_ADDED_UNITS = 1024;
/** Ids may leave holes, but not more than this beyond the number of tokens. */
const MAX_HOLES = 65_536;

/** An error about the tokenizer of a folder: `what` completes "The tokenizer.json …". */
export function damaged(what: string, cause?: unknown): TackroomError {
  return new TackroomError(
    'TOKENIZER_MISMATCH',
    `The tokenizer.json ${what}.`,
    'Fetch the model again; the file is left as it is.',
    { cause },
  );
}

export function unsupported(why: string, cause?: unknown): TackroomError {
  return new TackroomError(
    'MODEL_UNSUPPORTED',
    `The tokenizer of this model cannot be reproduced exactly: ${why}.`,
    'Use a model with a byte-level BPE or SentencePiece tokenizer.',
    { cause },
  );
}

/** Whether `id` can be one of `count` tokens. */
export function isTokenId(id: unknown, count: number): id is number {
  return Number.isInteger(id) && (id as number) >= 0 && (id as number) < Math.min(MAX_TOKENS, count + MAX_HOLES);
}

/** What a file says, for a message: at most 60 characters, and no more than the kind of what is nested. */
export function quoted(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  const text = typeof value === 'string' ? `"${value.slice(0, 60)}"` : String(value);
  return text.replace(/\s+/g, ' ');
}
