/** What the engine takes on at a time, and the memory of a sequence's keys and values. */
import { TackroomError } from '../../contract/errors.js';
import type { ModelInfo } from '../../native/addon.js';

export interface ServingLimits {
  /** Requests in one forward pass. */
  maxRunning: number;
  /** Requests that wait for a place; one more is refused with BUSY. */
  maxQueued: number;
  /** Longest wait for a place, milliseconds; then DEADLINE. */
  queueDeadlineMs: number;
  /** Memory for keys and values: of running requests and of the prefix cache together. */
  kvBytes: number;
  /** Prompt tokens in one pass while nothing decodes. */
  prefillTokens: number;
  /** While others decode, a pass takes about this long at most, so that their next token is not late. Milliseconds. */
  gapMs: number;
}

export const DEFAULT_LIMITS: Omit<ServingLimits, 'kvBytes'> = {
  maxRunning: 32,
  maxQueued: 256,
  queueDeadlineMs: 60_000,
  prefillTokens: 512,
  gapMs: 120,
};

const MIB = 1024 * 1024;
const LEAST_KV_BYTES = 64 * MIB;
/** Contexts held at full length when memory is plenty. */
const FULL_CONTEXTS = 16;
/** Of the free memory: the rest is for activations, training and other programs. */
const SHARE_OF_FREE = 0.4;
/** A sequence takes its memory in steps of this many tokens. */
const TOKEN_STEP = 192;

/** What one token of a sequence takes in memory, bytes. */
export const kvBytesPerToken = (info: Pick<ModelInfo, 'kvBytesPerToken'>): number => info.kvBytesPerToken;

/** Memory of a sequence of `tokens`. */
export const sequenceBytes = (tokens: number, perToken: number): number =>
  Math.ceil(tokens / TOKEN_STEP) * TOKEN_STEP * perToken;

/** Memory for keys and values when the user names none: 16 full contexts, at most 40 % of what is free. */
export function defaultKvBytes(info: Pick<ModelInfo, 'contextLength' | 'kvBytesPerToken'>, freeBytes: number): number {
  const wanted = FULL_CONTEXTS * sequenceBytes(info.contextLength, kvBytesPerToken(info));
  return Math.max(LEAST_KV_BYTES, Math.min(wanted, Math.floor(freeBytes * SHARE_OF_FREE)));
}

export interface PromptLimits {
  contextTokens: number;
  /** Tokens that the memory for keys and values holds. */
  kvTokens: number;
  /** What the caller allows. */
  maxPromptTokens: number | undefined;
}

/** Before anything is computed. Throws BAD_ARGUMENT for an empty prompt, CONTEXT_FULL for one that cannot be answered. */
export function checkPrompt(tokens: number, limits: PromptLimits): void {
  if (tokens === 0)
    throw new TackroomError('BAD_ARGUMENT', 'The prompt has no tokens.', 'Send at least one message with text.');
  if (limits.maxPromptTokens !== undefined && tokens > limits.maxPromptTokens)
    throw new TackroomError(
      'CONTEXT_FULL',
      `The prompt has ${tokens} tokens; this request allows ${limits.maxPromptTokens}.`,
      'Shorten the conversation or raise the limit of prompt tokens.',
    );
  if (tokens >= limits.contextTokens)
    throw new TackroomError(
      'CONTEXT_FULL',
      `The prompt has ${tokens} tokens; this model holds ${limits.contextTokens}, the answer included.`,
      'Shorten the conversation or use a model with a longer context.',
    );
  if (tokens >= limits.kvTokens)
    throw new TackroomError(
      'CONTEXT_FULL',
      `The prompt has ${tokens} tokens; the memory set aside for contexts holds ${limits.kvTokens}.`,
      'Shorten the conversation, or give contexts more memory with `serve --context-memory`.',
    );
}
