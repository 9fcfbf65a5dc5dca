/** Opens the codec that belongs to a model and checks that tokenizer and weights fit each other. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { checkedDemoFile } from '../models/demo/check-tokenizer.js';
import { createDemoCodec, isDemoTokenizer } from '../models/demo/codec.js';
import { readGgufHeader } from '../models/gguf-header.js';
import type { Codec } from './codec.js';
import { modelCodec } from './model-codec.js';
import { readModelFiles } from './model-files.js';
import { tokenizerFromGguf } from './tokenizer/from-gguf.js';
import { tokenizerFromJson } from './tokenizer/from-json.js';

export interface OpenedCodec {
  codec: Codec;
  /** Whether the model brings its chat template; else a common one stands in. */
  ownTemplate: boolean;
  /** Throws TOKENIZER_MISMATCH when the model has fewer rows than the tokenizer has tokens. */
  check(vocabSize: number): void;
}

/**
 * `path`: a folder with `tokenizer.json` (Hugging Face), a folder with one GGUF file, or a GGUF file. Throws
 * MODEL_NOT_FOUND, TOKENIZER_MISMATCH, MODEL_CORRUPT or MODEL_UNSUPPORTED.
 */
export function openCodec(path: string): OpenedCodec {
  if (!existsSync(path))
    throw new TackroomError(
      'MODEL_NOT_FOUND',
      `There is no model at ${path}.`,
      'Name a GGUF file, or a folder with config.json, model.safetensors and tokenizer.json.',
    );
  if (!statSync(path).isDirectory()) return openGguf(path);
  if (existsSync(join(path, 'tokenizer.json'))) return openFolder(path);
  const ggufs = readdirSync(path).filter((name) => /\.gguf$/i.test(name));
  if (ggufs.length === 1) return openGguf(join(path, ggufs[0]!));
  throw new TackroomError(
    'TOKENIZER_MISMATCH',
    `The model in ${path} has no tokenizer.json${ggufs.length > 1 ? ' and more than one GGUF file' : ''}.`,
    'For the demo model run `npm run setup`: it completes the tokenizer from the installed pi.',
  );
}

function openGguf(file: string): OpenedCodec {
  const header = readGgufHeader(file);
  const template = header.metadata.get('tokenizer.chat_template');
  const codec = modelCodec(tokenizerFromGguf(header), typeof template === 'string' ? template : null);
  return opened(codec, codec.tokenizer.vocabSize, basename(file), typeof template === 'string');
}

function openFolder(dir: string): OpenedCodec {
  const files = readModelFiles(dir);
  if (isDemoTokenizer(files.tokenizer)) {
    const { model, added_tokens: added } = checkedDemoFile(files.tokenizer);
    const ids = [...Object.values(model.vocab), ...added.map(({ id }) => id)];
    return opened(
      createDemoCodec(dir),
      ids.reduce((max, id) => Math.max(max, id + 1), 0),
      dir,
      true,
    );
  }
  const codec = modelCodec(tokenizerFromJson(files.tokenizer, files.hints), files.template);
  return opened(codec, codec.tokenizer.vocabSize, dir, files.template !== null);
}

/** Models have more rows than tokens, rounded up for the hardware or reserved; this many, or a sixteenth of all. */
const SPARE_ROWS = 1024;

function opened(codec: Codec, tokens: number, where: string, ownTemplate: boolean): OpenedCodec {
  return {
    codec,
    ownTemplate,
    check(vocabSize) {
      if (tokens > vocabSize || tokens < vocabSize - Math.max(SPARE_ROWS, vocabSize / 16))
        throw new TackroomError(
          'TOKENIZER_MISMATCH',
          `The tokenizer in ${where} has ${tokens} tokens, the model ${vocabSize}: they do not belong together.`,
          'Put the tokenizer.json of this very model into its folder.',
        );
    },
  };
}
