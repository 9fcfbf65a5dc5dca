/** What the files of a Hugging Face model folder say about tokens, templates and ends. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { TokenizerHints } from './tokenizer/from-json.js';

/** The largest vocabularies take some 35 MB. */
const MAX_TOKENIZER_BYTES = 256 * 2 ** 20;
const MAX_TEXT_BYTES = 8 * 2 ** 20;

/** Files of a model folder, beside config and weights, that other programs and this one read for tokens, templates and ends. */
const TOKEN_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'chat_template.jinja',
  'generation_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'tokenizer.model',
  'vocab.json',
  'merges.txt',
];

/** The paths of those that are there; none for a GGUF file, which holds its tokenizer itself. */
export const tokenFiles = (model: string): string[] =>
  TOKEN_FILES.map((name) => join(model, name)).filter((path) => existsSync(path));

export interface ModelFiles {
  /** What `tokenizer.json` holds: an object, not looked at any further. */
  tokenizer: Record<string, unknown>;
  /** The chat template, null where the folder has none. */
  template: string | null;
  hints: TokenizerHints;
}

/**
 * Reads `tokenizer.json`, and where they are there `tokenizer_config.json`, `generation_config.json`, `config.json` and
 * `chat_template.jinja`. Throws TOKENIZER_MISMATCH when one cannot be read or is no JSON.
 */
export function readModelFiles(dir: string): ModelFiles {
  const tokenizer = readJson(join(dir, 'tokenizer.json'), MAX_TOKENIZER_BYTES);
  if (!tokenizer || typeof tokenizer.model !== 'object' || tokenizer.model === null)
    throw new TackroomError(
      'TOKENIZER_MISMATCH',
      `The tokenizer.json in ${dir} holds no tokenizer.`,
      'Fetch or build the model again.',
    );
  const config = readJson(join(dir, 'tokenizer_config.json')) ?? {};
  const ends = ['generation_config.json', 'config.json'].map((name) => readJson(join(dir, name))?.eos_token_id);
  return {
    tokenizer,
    template: templateOf(dir, config),
    hints: {
      bosToken: tokenText(config.bos_token),
      eosToken: tokenText(config.eos_token),
      ...(typeof config.add_bos_token === 'boolean' && { addBos: config.add_bos_token }),
      endIds: ends.flat().filter((id): id is number => Number.isInteger(id)),
    },
  };
}

function templateOf(dir: string, config: Record<string, unknown>): string | null {
  const own = readText(join(dir, 'chat_template.jinja'), MAX_TEXT_BYTES);
  if (own !== null) return own;
  const { chat_template: template } = config;
  if (typeof template === 'string') return template;
  if (!Array.isArray(template)) return null;
  // Older folders name several; the one for tools knows how to do without.
  const named = new Map(template.map((item: { name?: unknown; template?: unknown }) => [item?.name, item?.template]));
  const chosen = named.get('tool_use') ?? named.get('default');
  return typeof chosen === 'string' ? chosen : null;
}

/** A token is named by its text, or by an object that holds it. */
function tokenText(token: unknown): string | undefined {
  if (typeof token === 'string') return token;
  const content = typeof token === 'object' && token !== null ? (token as { content?: unknown }).content : undefined;
  return typeof content === 'string' ? content : undefined;
}

/** A JSON object in a file of a model folder; null when it is absent. Throws TOKENIZER_MISMATCH. */
function readJson(file: string, maxBytes = MAX_TEXT_BYTES): Record<string, unknown> | null {
  const text = readText(file, maxBytes);
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unreadable(file, 'is not readable JSON', cause);
  }
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw unreadable(file, 'is no JSON object');
}

/** A text of a model folder; null when it is absent. Throws TOKENIZER_MISMATCH. */
function readText(file: string, maxBytes: number): string | null {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return null;
    if (stat.isFile() && stat.size <= maxBytes) return readFileSync(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, 'cannot be read', cause);
  }
  throw unreadable(file, `is no file of at most ${maxBytes / 2 ** 20} MiB`);
}

function unreadable(file: string, what: string, cause?: unknown): TackroomError {
  return new TackroomError('TOKENIZER_MISMATCH', `${file} ${what}.`, 'Fetch or build the model again.', { cause });
}
