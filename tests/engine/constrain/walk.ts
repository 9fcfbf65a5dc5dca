/** Draws answers under a constraint as a model without any sense would: any allowed token, each as likely. */

import type { Grammar } from '../../../main/engine/constrain/grammar.js';
import { Machine } from '../../../main/engine/constrain/machine.js';
import { Vocabulary } from '../../../main/engine/constrain/vocabulary.js';

export const END = 0;
const PIECES =
  '{" ":" "," [" "] }} }, ], "}  true false null tru e" 12 345 -1 .5 e+ \\" \\u00 \\n ab the name arguments {"name": "arguments": жук 日本 😀'.split(
    ' ',
  );

/** Every byte, some longer pieces, halves of characters, an end token, and one id without bytes. */
export function testVocabulary(): { tokens: (Uint8Array | null)[]; vocabulary: Vocabulary } {
  const tokens: (Uint8Array | null)[] = [Uint8Array.from(Buffer.from('<|end|>'))];
  for (let byte = 0; byte < 256; byte++) tokens.push(Uint8Array.of(byte));
  for (const piece of [...PIECES, ' ', '  ', ', "', '": "'].filter((p) => p !== ''))
    tokens.push(Uint8Array.from(Buffer.from(piece, 'utf8')));
  tokens.push(Uint8Array.from(Buffer.from('"ж').subarray(0, 2)), null, Uint8Array.from(Buffer.alloc(60, 'a')));
  return {
    tokens,
    vocabulary: new Vocabulary(tokens, tokens.length, { endIds: new Set([END]), controlIds: new Set() }),
  };
}

export const idsIn = (mask: Uint32Array): number[] => {
  const ids: number[] = [];
  mask.forEach((word, w) => {
    for (let bit = 0; bit < 32; bit++) if ((word >>> bit) & 1) ids.push(w * 32 + bit);
  });
  return ids;
};

export function randomFrom(seed: number): () => number {
  let state = (Math.imul(seed, 2654435761) ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

/** Bytes that lead to an end soonest, best first. */
const CLOSING = [...'"]}'].map((c) => c.charCodeAt(0));

/** The text drawn; after `wild` tokens it takes the way to the end. Throws when no token is allowed or it never ends. */
export function drawAnswer(
  grammar: Grammar,
  seed: number,
  wild: number,
  { tokens, vocabulary } = testVocabulary(),
): string {
  const machine = new Machine(grammar);
  const random = randomFrom(seed);
  const bytes: number[] = [];
  let state = machine.start;
  for (let n = 0; n < 3000; n++) {
    const mask = vocabulary.mask(machine, state);
    if (!mask) throw new Error(`no token after ${Buffer.from(bytes).toString('utf8')}`);
    const ids = idsIn(mask);
    let id = ids[Math.floor(random() * ids.length)]!;
    if (n >= wild) {
      const closing = CLOSING.map((byte) => byte + 1).find((one) => ids.includes(one));
      id = ids.includes(END) ? END : (closing ?? ids.find((one) => one <= 256) ?? id);
    }
    if (id === END) return Buffer.from(bytes).toString('utf8');
    bytes.push(...tokens[id]!);
    const next = vocabulary.walk(machine, state, id);
    if (!next) throw new Error('an allowed token does not walk');
    state = next;
  }
  throw new Error(`no end: ${Buffer.from(bytes).toString('utf8').slice(0, 300)}`);
}
