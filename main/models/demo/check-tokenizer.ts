/** Whether a `tokenizer.json` that calls itself the demo model's is one that the demo model's tokenizer can run. */
import { TackroomError } from '../../../contract/errors.js';
import { BYTE_LETTERS } from './byte-alphabet.js';
import { CONTROL_TOKENS, type TokenizerFile } from './tokenizer-file.js';

/** Ids of a pair are packed into one number of 32 bits. */
const MAX_ID = 65_535;
/** The lines of a harness's prompt are tokens, so there are long ones. */
const MAX_ADDED = 1024;
const MAX_ADDED_UNITS = 16_384;

/** Returns the same value. Throws TOKENIZER_MISMATCH. */
export function checkedDemoFile(value: unknown): TokenizerFile {
  const file = value as Partial<TokenizerFile> | null;
  const { vocab, merges } = file?.model ?? {};
  const added = file?.added_tokens;
  if (typeof vocab !== 'object' || vocab === null || !Array.isArray(merges) || !Array.isArray(added)) throw damaged();
  const letters = new Set(BYTE_LETTERS);
  for (const [text, id] of Object.entries(vocab))
    if (!isId(id) || ![...text].every((letter) => letters.has(letter))) throw damaged();
  if (!BYTE_LETTERS.every((letter) => Object.hasOwn(vocab, letter))) throw damaged();
  for (const merge of merges) {
    if (!Array.isArray(merge) || merge.length !== 2) throw damaged();
    const [left, right] = merge as unknown[];
    if (typeof left !== 'string' || typeof right !== 'string') throw damaged();
    if (![left, right, left + right].every((text) => Object.hasOwn(vocab, text))) throw damaged();
  }
  if (added.length > MAX_ADDED) throw damaged();
  for (const token of added as (Partial<TokenizerFile['added_tokens'][number]> | null)[]) {
    const content = token?.content;
    if (typeof content !== 'string' || content === '' || content.length > MAX_ADDED_UNITS || !isId(token?.id))
      throw damaged();
  }
  const texts = new Set(added.map(({ content }) => content));
  if (!CONTROL_TOKENS.every((token) => texts.has(token))) throw damaged();
  return value as TokenizerFile;
}

function isId(id: unknown): boolean {
  return Number.isInteger(id) && (id as number) >= 0 && (id as number) <= MAX_ID;
}

function damaged(): TackroomError {
  return new TackroomError(
    'TOKENIZER_MISMATCH',
    "The tokenizer.json names the demo model's control tokens but is not its tokenizer.",
    'Run `npm run setup`: it writes the demo model anew.',
  );
}
