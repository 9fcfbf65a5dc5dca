import { makeDataTask } from '../../../envs/generate/data-task.js';
import { Rng } from '../../../envs/generate/random.js';
import { trainBpe } from '../bpe-train.js';
import type { PiLinesFile } from '../complete-tokenizer.js';
import { CALL_PREFIXES, fixedPieces, PI_PACKAGE_PATH, type PiPrompt, pieceHash } from '../pi-lines.js';
import { callText } from '../render.js';
import { teach } from '../teacher/teacher.js';
import { addedToken, CONTROL_TOKENS, type TokenizerFile, tokenizerFile, WORD_PATTERN } from '../tokenizer-file.js';
import { RECIPE } from './recipe.js';

export interface BuiltTokenizer {
  /** What ships: without the lines of pi's prompt. */
  file: TokenizerFile;
  piLines: PiLinesFile;
}

/** Learns the vocabulary from synthetic sessions and numbers pi's lines behind it. Deterministic. */
export function buildTokenizer(prompt: PiPrompt, piVersion: string): BuiltTokenizer {
  const pieces = fixedPieces(prompt);
  const plain = [...CALL_PREFIXES, PI_PACKAGE_PATH];
  const learned = RECIPE.config.vocab_size - plain.length - pieces.length;
  const { vocab, merges } = trainBpe(countWords(), learned, RECIPE.tokenizer.minCount, CONTROL_TOKENS);
  const size = Object.keys(vocab).length;
  if (size !== learned) throw new Error(`The corpus gives ${size} tokens, ${learned} are needed.`);
  const control = CONTROL_TOKENS.map((token, id) => addedToken(id, token, true));
  const extra = plain.map((token, i) => addedToken(learned + i, token, false));
  const lines = pieces.map((piece, i) => ({ id: learned + plain.length + i, sha256: pieceHash(piece) }));
  return {
    file: tokenizerFile(vocab, merges, [...control, ...extra]),
    piLines: { harness: 'pi', version: piVersion, lines },
  };
}

/** How often each word (as cut by the pre-tokenizer) occurs in what users, tools and assistants say. */
function countWords(): Map<string, number> {
  const counts = new Map<string, number>();
  const word = new RegExp(WORD_PATTERN, 'g');
  const add = (text: string) => {
    for (const [match] of text.matchAll(word)) counts.set(match, (counts.get(match) ?? 0) + 1);
  };
  for (let i = 0; i < RECIPE.tokenizer.sessions; i++) {
    const seed = `${RECIPE.seed}/tokenizer/${i}`;
    const task = makeDataTask(seed, 'train');
    add(task.question);
    for (const step of teach(task, new Rng(seed)).steps) {
      if (step.type !== 'call') add(step.text);
      else add(withoutPrefix(callText(step.name, JSON.stringify(step.args))));
    }
  }
  return counts;
}

function withoutPrefix(call: string): string {
  const prefix = CALL_PREFIXES.find((start) => call.startsWith(start));
  return call.slice(prefix?.length ?? 0);
}
