/** One request inside the scheduler. */
import type { ComputePath, NativeAdapter, NativeSequence, SampleOptions } from '../../native/addon.js';
import type { TokenConstraint } from './constrain/constraint.js';
import type { Priority, Waiting } from './waiting-queue.js';

export interface Generation {
  completionIds: number[];
  logprobs: number[];
  /** An end token; the caller's word (a stop string); the limit of tokens. */
  finish: 'stop' | 'stop_string' | 'length';
  cachedTokens: number;
  firstTokenMs: number;
}

export interface GenerateOptions {
  /** Hash of the adapter, or `base`. */
  adapterKey: string;
  adapter: NativeAdapter | null;
  sample: SampleOptions;
  maxTokens: number;
  endIds: ReadonlySet<number>;
  /** Longer prompts are refused with CONTEXT_FULL before anything is computed. */
  maxPromptTokens?: number;
  /** Default: interactive. */
  priority?: Priority;
  /** Default: serving. Rollouts for training are sampled as training computes, where the two differ. */
  path?: ComputePath;
  /** Told all ids so far after each token but an end token; `true` ends the answer with that token. */
  onToken?: (ids: readonly number[]) => boolean | undefined;
  /** What the next token may be. */
  constraint?: TokenConstraint;
  signal?: AbortSignal;
}

export interface Job extends Waiting {
  readonly options: GenerateOptions;
  readonly prompt: Int32Array;
  readonly maxTokens: number;
  /** Memory set aside for it while it runs. */
  readonly kvBytes: number;
  readonly out: Generation;
  /** null: not begun, or waiting for the common part of another's prompt. */
  sequence: NativeSequence | null;
  /** The running request that computes the first `shared` tokens for this one too. */
  leader: Job | null;
  shared: number;
  /** Prompt tokens already in the sequence. */
  filled: number;
  /** No longer runs: answered, failed or cancelled. */
  left: boolean;
  resolve(result: Generation): void;
}

/** Tokens that the sequence of a job holds. */
export function heldIds(job: Job): Int32Array {
  const held = job.sequence?.length ?? 0;
  const ids = new Int32Array(held);
  ids.set(job.prompt.subarray(0, Math.min(held, job.prompt.length)));
  if (held > job.prompt.length) ids.set(job.out.completionIds.slice(0, held - job.prompt.length), job.prompt.length);
  return ids;
}

export const isDecoding = (job: Job): boolean => job.filled === job.prompt.length;
