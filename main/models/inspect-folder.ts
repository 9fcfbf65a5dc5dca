/** Facts of a Hugging Face folder: config.json, the headers of its safetensors files, tokenizer.json. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { ModelFacts } from './inspect.js';

/** Longer headers are no header: the format's own limit. */
const MAX_HEADER_BYTES = 100_000_000;

interface TensorInfo {
  dtype: string;
  shape: number[];
}

/** Throws MODEL_NOT_FOUND, MODEL_CORRUPT. */
export function inspectFolder(dir: string): ModelFacts {
  if (!existsSync(join(dir, 'config.json')))
    throw new TackroomError(
      'MODEL_NOT_FOUND',
      `The folder ${dir} has no config.json.`,
      'Name a folder with config.json, model.safetensors and tokenizer.json, or a GGUF file.',
    );
  const whole = json(join(dir, 'config.json'));
  // Models of several kinds of input describe the text part below.
  const config = { ...whole, ...((whole.text_config ?? {}) as Record<string, unknown>) };
  const one = (key: string): number => (typeof config[key] === 'number' ? config[key] : 0);
  const files = readdirSync(dir).filter((name) => name.endsWith('.safetensors'));
  if (files.length === 0)
    throw new TackroomError(
      'MODEL_NOT_FOUND',
      `The folder ${dir} has no safetensors file.`,
      'Copy the weights into it.',
    );
  const tensors = files.flatMap((name) => tensorsOf(join(dir, name)));
  const tensorTypes: Record<string, number> = {};
  for (const { dtype } of tensors) tensorTypes[dtype] = (tensorTypes[dtype] ?? 0) + 1;
  const heads = one('num_attention_heads');
  const layers = one('num_hidden_layers');
  const kinds = config.layer_types;
  return {
    kind: 'huggingface',
    name: basename(dir),
    architecture: typeof config.model_type === 'string' ? config.model_type : 'unknown',
    parameters: tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
    contextLength: one('max_position_embeddings'),
    shape: {
      layers,
      hidden: one('hidden_size'),
      heads,
      kvHeads: one('num_key_value_heads') || heads,
      headDim: one('head_dim') || (heads > 0 ? one('hidden_size') / heads : 0),
      feedForward: one('intermediate_size'),
      vocabulary: one('vocab_size'),
    },
    attentionLayers: Array.isArray(kinds) ? kinds.filter((kind) => String(kind).includes('attention')).length : layers,
    tensorTypes,
    tokenizer: tokenizerOf(join(dir, 'tokenizer.json')),
    fileBytes: files.reduce((sum, name) => sum + statSync(join(dir, name)).size, 0),
  };
}

const corrupt = (file: string, why: string): TackroomError =>
  new TackroomError('MODEL_CORRUPT', `${file} ${why}.`, 'Copy or download the model again; the file is left as it is.');

function json(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw corrupt(file, 'is not readable JSON');
}

/** Header of a safetensors file: 8 bytes of length, then JSON. */
function tensorsOf(file: string): TensorInfo[] {
  const size = statSync(file).size;
  const fd = openSync(file, 'r');
  try {
    const length = Buffer.alloc(8);
    readSync(fd, length, 0, 8, 0);
    const bytes = Number(length.readBigUInt64LE(0));
    if (bytes < 2 || bytes > Math.min(size - 8, MAX_HEADER_BYTES)) throw corrupt(file, 'has an impossible header');
    const header = Buffer.alloc(bytes);
    readSync(fd, header, 0, bytes, 8);
    return entries(file, header.toString('utf8'));
  } finally {
    closeSync(fd);
  }
}

function entries(file: string, text: string): TensorInfo[] {
  let header: Record<string, TensorInfo>;
  try {
    header = JSON.parse(text) as Record<string, TensorInfo>;
  } catch {
    throw corrupt(file, 'has an unreadable header');
  }
  const infos = Object.entries(header).flatMap(([name, info]) => (name === '__metadata__' ? [] : [info]));
  for (const info of infos)
    if (typeof info?.dtype !== 'string' || !Array.isArray(info.shape)) throw corrupt(file, 'has an unreadable header');
  return infos;
}

function tokenizerOf(file: string): ModelFacts['tokenizer'] {
  if (!existsSync(file)) return null;
  const { model, added_tokens: added } = json(file) as {
    model?: { type?: string; vocab?: Record<string, number> | unknown[] };
    added_tokens?: { id: number }[];
  };
  const vocab = model?.vocab ?? {};
  const listed = Array.isArray(vocab)
    ? vocab.length
    : Object.values(vocab).reduce((max, id) => Math.max(max, id + 1), 0);
  const tokens = (added ?? []).reduce((max, { id }) => Math.max(max, id + 1), listed);
  return { kind: model?.type ?? 'unknown', tokens };
}
