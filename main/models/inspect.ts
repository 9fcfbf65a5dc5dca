/** What a model on disk is, from its headers alone: nothing is loaded. */
import { existsSync, statSync } from 'node:fs';
import { TackroomError } from '../../contract/errors.js';
import { loadAddon } from '../../native/addon.js';
import { inspectFolder } from './inspect-folder.js';
import { inspectGguf } from './inspect-gguf.js';

export interface ModelShape {
  layers: number;
  hidden: number;
  heads: number;
  /** Of the layer with the most, where they differ. */
  kvHeads: number;
  headDim: number;
  feedForward: number;
  vocabulary: number;
}

/** What reading the files gives. */
export interface ModelFacts {
  kind: 'gguf' | 'huggingface';
  name: string;
  architecture: string;
  parameters: number;
  contextLength: number;
  shape: ModelShape;
  /** Layers that keep keys and values. */
  attentionLayers: number;
  /** Number of tensors of each type, such as F32, BF16, Q4_K. */
  tensorTypes: Record<string, number>;
  /** null: none beside the weights. */
  tokenizer: { kind: string; tokens: number } | null;
  fileBytes: number;
}

export interface ModelSummary extends ModelFacts {
  path: string;
  memory: {
    /** Of the weights in memory. */
    weightsBytes: number;
    kvBytesPerToken: number;
    /** Keys and values of one full context. */
    contextBytes: number;
    totalBytes: number;
  };
}

/** A GGUF file, or a folder with config.json. Throws MODEL_NOT_FOUND, MODEL_CORRUPT, MODEL_UNSUPPORTED. */
export function inspectModel(path: string): ModelSummary {
  if (!existsSync(path))
    throw new TackroomError(
      'MODEL_NOT_FOUND',
      `There is no model at ${path}.`,
      'Name a GGUF file, or a folder with config.json, model.safetensors and tokenizer.json.',
    );
  const facts = statSync(path).isDirectory() ? inspectFolder(path) : inspectGguf(path);
  const weightsBytes = weightsInMemory(facts);
  const { kvHeads, headDim } = facts.shape;
  // A short convolution keeps its input of every token.
  const convolved = facts.architecture.startsWith('lfm2') ? facts.shape.layers - facts.attentionLayers : 0;
  const floats = facts.attentionLayers * kvHeads * headDim * 2 + convolved * facts.shape.hidden;
  const kvBytesPerToken = floats * Float32Array.BYTES_PER_ELEMENT;
  const contextBytes = kvBytesPerToken * facts.contextLength;
  return {
    path,
    ...facts,
    memory: { weightsBytes, kvBytesPerToken, contextBytes, totalBytes: weightsBytes + contextBytes },
  };
}

/** The same of a model that the engine loads; where it would refuse the files it is asked for its reason, which is thrown. */
export function inspectForEngine(path: string): ModelSummary {
  const summary = inspectModel(path);
  loadAddon().checkModel(path);
  return summary;
}

/** 16-bit models below this size are held in 32 bits, as those of 32 bits are: once in rows and once in panels. */
const SMALL_MODEL = 32e6;
const NARROW = new Set(['F16', 'BF16']);

/** About: quantised files stay as they are, larger 16-bit ones too (native/src/model_files.cc decides). */
function weightsInMemory({ tensorTypes, parameters, fileBytes }: ModelFacts): number {
  const types = Object.keys(tensorTypes);
  const quantised = types.some((type) => type !== 'F32' && !NARROW.has(type));
  const kept = quantised || (parameters >= SMALL_MODEL && types.some((type) => NARROW.has(type)));
  return kept ? fileBytes : parameters * Float32Array.BYTES_PER_ELEMENT * 2;
}
