/** Small vocabularies made for tests. */
import { tokenizerFromGguf } from '../../../main/engine/tokenizer/from-gguf.js';
import type { Tokenizer } from '../../../main/engine/tokenizer/tokenizer.js';
import type { GgufValue } from '../../../main/models/gguf-header.js';

const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const BYTE = 6;

/** Token, score, type. */
const PIECES: readonly [string, number, number][] = [
  ['<unk>', 0, UNKNOWN],
  ['<s>', 0, CONTROL],
  ['</s>', 0, CONTROL],
  ['<tool>', 0, USER_DEFINED],
  ['  ', 0, USER_DEFINED],
  ...Array.from({ length: 256 }, (_, byte): [string, number, number] => [
    `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    0,
    BYTE,
  ]),
  ['\u2581', -10, NORMAL],
  ...[...'abcdehlorstw<>/'].map((letter, index): [string, number, number] => [letter, -20 - index, NORMAL]),
  ['he', -3, NORMAL],
  ['ll', -2, NORMAL],
  ['hell', -4, NORMAL],
  ['lo', -1, NORMAL],
  ['hello', -5, NORMAL],
  ['\u2581w', -6, NORMAL],
  ['or', -7, NORMAL],
  ['ld', -8, NORMAL],
  ['\u2581world', -9, NORMAL],
  ['\u2581wor', -9.5, NORMAL],
  ['aa', -1.5, NORMAL],
  ['aaaa', -1.25, NORMAL],
  ['<s', -1, NORMAL],
];

export const SPM_TOKENS = PIECES.map(([token]) => token);

export function spmMetadata(addSpacePrefix: boolean): Map<string, GgufValue> {
  return new Map<string, GgufValue>([
    ['tokenizer.ggml.model', 'llama'],
    ['tokenizer.ggml.tokens', SPM_TOKENS],
    ['tokenizer.ggml.scores', Float32Array.from(PIECES, ([, score]) => score)],
    ['tokenizer.ggml.token_type', Int32Array.from(PIECES, ([, , type]) => type)],
    ['tokenizer.ggml.bos_token_id', 1],
    ['tokenizer.ggml.eos_token_id', 2],
    ['tokenizer.ggml.unknown_token_id', 0],
    ['tokenizer.ggml.add_space_prefix', addSpacePrefix],
  ]);
}

export function spmTokenizer({ addSpacePrefix }: { addSpacePrefix: boolean }): Tokenizer {
  return tokenizerFromGguf({ metadata: spmMetadata(addSpacePrefix) });
}
