import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../../contract/errors.js';
import { packageRoot } from '../../../native/addon.js';
import { fixedPieces, type PiRequestBody, pieceHash, readPiPrompt } from './pi-lines.js';
import { addedToken, type TokenizerFile } from './tokenizer-file.js';

/** Side file of the tokenizer: which token each line of pi's prompt has, without the line. */
export interface PiLinesFile {
  harness: 'pi';
  version: string;
  lines: { id: number; sha256: string }[];
}

const COPIED = [
  'config.json',
  'generation_config.json',
  'model.safetensors',
  'tokenizer_config.json',
  'chat_template.jinja',
  'pi_lines.json',
  'README.md',
];

/** Folder of the demo model as it ships: everything but the lines of pi's prompt. */
export function demoModelDir(): string {
  return join(packageRoot(), 'resources', 'demo-model');
}

/**
 * Writes a complete demo model to `outDir`: the shipped files, and a `tokenizer.json` with the lines of the installed
 * pi's prompt, taken from a captured request body and matched by hash.
 * Throws PI_PROMPT_DIFFERS where a line is missing or new.
 */
export function completeTokenizer(body: PiRequestBody, outDir: string, modelDir = demoModelDir()): void {
  const file = completedFile(body, modelDir);
  mkdirSync(outDir, { recursive: true });
  // New files replace old ones whole: a running engine may have the old weights mapped.
  const replace = (name: string, write: (path: string) => void) => {
    const target = join(outDir, name);
    write(`${target}.new`);
    renameSync(`${target}.new`, target);
  };
  for (const name of COPIED) {
    const source = join(modelDir, name);
    if (existsSync(source)) replace(name, (path) => copyFileSync(source, path));
  }
  replace('tokenizer.json', (path) => writeFileSync(path, JSON.stringify(file)));
}

/** The complete `tokenizer.json` as an object. Throws PI_PROMPT_DIFFERS as above. */
export function completedFile(body: PiRequestBody, modelDir = demoModelDir()): TokenizerFile {
  const pieces = matchPieces(body, readJson<PiLinesFile>(join(modelDir, 'pi_lines.json')));
  const file = readJson<TokenizerFile>(join(modelDir, 'tokenizer.json'));
  file.added_tokens.push(...pieces.map(({ id, piece }) => addedToken(id, piece, false)));
  file.added_tokens.sort((a, b) => a.id - b.id);
  return file;
}

/** Pairs every line of the prompt with its token. */
function matchPieces(body: PiRequestBody, known: PiLinesFile): { id: number; piece: string }[] {
  const prompt = readPiPrompt(body);
  const pieces = new Map((prompt ? fixedPieces(prompt) : []).map((piece) => [pieceHash(piece), piece]));
  const missing = known.lines.filter((line) => !pieces.has(line.sha256)).length;
  const hashes = new Set(known.lines.map((line) => line.sha256));
  const extra = [...pieces.keys()].filter((hash) => !hashes.has(hash)).length;
  if (missing > 0 || extra > 0) {
    throw new TackroomError(
      'PI_PROMPT_DIFFERS',
      `The installed pi sends another prompt than pi ${known.version}, for which the demo model was made (${missing} lines missing, ${extra} new).`,
      'Install the pinned version with `node scripts/install-pi.mjs`.',
    );
  }
  return known.lines.map(({ id, sha256 }) => ({ id, piece: pieces.get(sha256)! }));
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
