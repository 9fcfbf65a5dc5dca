/** Opens the codec that belongs to a model folder and checks that tokenizer and weights fit each other. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { createDemoCodec } from '../models/demo/codec.js';
import type { Codec } from './codec.js';

interface TokenizerFile {
  model?: { vocab?: Record<string, number> };
  added_tokens?: { id: number }[];
}

/** Tokens that a tokenizer.json names: highest id + 1. */
function tokenizerSize(file: string): number {
  let json: TokenizerFile;
  try {
    json = JSON.parse(readFileSync(file, 'utf8')) as TokenizerFile;
  } catch (cause) {
    throw new TackroomError(
      'TOKENIZER_MISMATCH',
      `The tokenizer ${file} is not readable JSON.`,
      'Fetch or build the model again.',
      { cause },
    );
  }
  const ids = [...Object.values(json.model?.vocab ?? {}), ...(json.added_tokens ?? []).map((t) => t.id)];
  return ids.reduce((max, id) => Math.max(max, id + 1), 0);
}

export interface OpenedCodec {
  codec: Codec;
  /** Throws TOKENIZER_MISMATCH when the model has fewer rows than the tokenizer has tokens. */
  check(vocabSize: number): void;
}

export function openCodec(modelDir: string): OpenedCodec {
  if (!existsSync(modelDir))
    throw new TackroomError(
      'MODEL_NOT_FOUND',
      `There is no model at ${modelDir}.`,
      'Name a folder with config.json, model.safetensors and tokenizer.json.',
    );
  const file = join(modelDir, 'tokenizer.json');
  if (!existsSync(file))
    throw new TackroomError(
      'TOKENIZER_MISMATCH',
      `The model in ${modelDir} has no tokenizer.json.`,
      'For the demo model run `npm run setup`: it completes the tokenizer from the installed pi.',
    );
  const tokens = tokenizerSize(file);
  const codec = createDemoCodec(modelDir);
  return {
    codec,
    check(vocabSize) {
      if (tokens > vocabSize || tokens < vocabSize - 1024)
        throw new TackroomError(
          'TOKENIZER_MISMATCH',
          `The tokenizer in ${modelDir} has ${tokens} tokens, the model ${vocabSize}: they do not belong together.`,
          'Put the tokenizer.json of this very model into its folder.',
        );
    },
  };
}
