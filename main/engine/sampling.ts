/** How a request samples, checked before it waits for a place. */
import { randomInt } from 'node:crypto';
import { TackroomError } from '../../contract/errors.js';
import type { SampleOptions } from '../../native/addon.js';
import type { Sampling } from './protocol.js';

/** For a caller that names no limit. */
export const DEFAULT_MAX_TOKENS = 512;

const MOST_SEED = 2 ** 47;

/** Throws BAD_ARGUMENT naming the first value out of range. Without a seed a random one is drawn. */
export function sampleOptions(sampling: Sampling): SampleOptions {
  const need = (good: boolean, what: string): void => {
    if (!good) throw new TackroomError('BAD_ARGUMENT', `${what}.`);
  };
  const { temperature, topP, topK, minP, repetitionPenalty, seed, maxTokens } = sampling;
  need(Number.isFinite(temperature) && temperature >= 0, 'The temperature must be a number of at least 0');
  need(topP === undefined || (topP > 0 && topP <= 1), 'top_p must lie in (0, 1]');
  need(topK === undefined || Number.isInteger(topK), 'top_k must be a whole number');
  need(minP === undefined || (minP >= 0 && minP <= 1), 'min_p must lie in [0, 1]');
  need(repetitionPenalty === undefined || repetitionPenalty > 0, 'The repetition penalty must be positive');
  need(
    seed === undefined || (Number.isSafeInteger(seed) && seed >= 0),
    'The seed must be a whole number of at least 0',
  );
  need(
    maxTokens === undefined || (Number.isInteger(maxTokens) && maxTokens > 0),
    'The limit of tokens must be a whole number of at least 1',
  );
  return {
    temperature,
    topP,
    topK: Math.max(0, topK ?? 0),
    minP,
    repetitionPenalty,
    seed: seed ?? randomInt(MOST_SEED),
  };
}
