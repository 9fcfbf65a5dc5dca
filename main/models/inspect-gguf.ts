/** Facts of a GGUF file. Keys: ggml's `docs/gguf.md`. */
import { basename } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { type GgufHeader, type GgufValue, readGgufHeader } from './gguf-header.js';
import type { ModelFacts } from './inspect.js';

/** Names of ggml's tensor types by id. */
const TYPES: Record<number, string> = Object.fromEntries(
  '0 F32,1 F16,2 Q4_0,3 Q4_1,6 Q5_0,7 Q5_1,8 Q8_0,9 Q8_1,10 Q2_K,11 Q3_K,12 Q4_K,13 Q5_K,14 Q6_K,15 Q8_K,16 IQ2_XXS,17 IQ2_XS,18 IQ3_XXS,19 IQ1_S,20 IQ4_NL,21 IQ3_S,22 IQ2_S,23 IQ4_XS,24 I8,25 I16,26 I32,27 I64,28 F64,29 IQ1_M,30 BF16'
    .split(',')
    .map((entry) => entry.split(' ') as [string, string]),
);

/** Throws MODEL_NOT_FOUND, MODEL_CORRUPT, MODEL_UNSUPPORTED. */
export function inspectGguf(path: string): ModelFacts {
  const header = readGgufHeader(path);
  const architecture = text(header.metadata.get('general.architecture'));
  if (architecture === null)
    throw new TackroomError('MODEL_CORRUPT', `${path} does not name its architecture.`, 'Download the file again.');
  const all = (key: string): number[] => numbers(header.metadata.get(`${architecture}.${key}`));
  const one = (key: string): number => all(key)[0] ?? 0;
  const heads = Math.max(0, ...all('attention.head_count'));
  const kvHeads = all('attention.head_count_kv');
  const layers = one('block_count');
  const hidden = one('embedding_length');
  const tokens = header.metadata.get('tokenizer.ggml.tokens');
  const vocabulary = Array.isArray(tokens) ? tokens.length : one('vocab_size');
  const pre = text(header.metadata.get('tokenizer.ggml.pre'));
  const model = text(header.metadata.get('tokenizer.ggml.model'));
  return {
    kind: 'gguf',
    name: text(header.metadata.get('general.name')) ?? basename(path),
    architecture,
    parameters: header.tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
    contextLength: one('context_length'),
    shape: {
      layers,
      hidden,
      heads,
      kvHeads: kvHeads.length === 0 ? heads : Math.max(...kvHeads),
      headDim: one('attention.key_length') || (heads > 0 ? hidden / heads : 0),
      feedForward: Math.max(0, ...all('feed_forward_length')),
      vocabulary,
    },
    // One count a layer: those without heads keep something else.
    attentionLayers: kvHeads.length > 1 ? kvHeads.filter((n) => n > 0).length : layers,
    tensorTypes: typesOf(header),
    tokenizer: model === null ? null : { kind: pre === null ? model : `${model} (${pre})`, tokens: vocabulary },
    fileBytes: header.fileBytes,
  };
}

function typesOf({ tensors }: GgufHeader): Record<string, number> {
  const types: Record<string, number> = {};
  for (const { type } of tensors) {
    const name = TYPES[type] ?? `type ${type}`;
    types[name] = (types[name] ?? 0) + 1;
  }
  return types;
}

const text = (value: GgufValue | undefined): string | null => (typeof value === 'string' ? value : null);

function numbers(value: GgufValue | undefined): number[] {
  if (typeof value === 'number' || typeof value === 'bigint') return [Number(value)];
  if (value === undefined || typeof value !== 'object') return [];
  return Array.from(value as ArrayLike<number | bigint | string>, Number);
}
