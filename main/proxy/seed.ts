/**
 * Seeds of single requests. The engine's draw depends on (seed, position) only, so a rollout whose session seed, prompts
 * and weights repeat repeats token by token.
 */
import { createHash, randomInt } from 'node:crypto';

/**
 * Seed of request `number` (0, 1, …) of a session: the first 53 bits of sha256("seed:number"). Auxiliary requests count
 * apart (`lane` "aux"), because they run beside the main turns and come in any order.
 */
export function requestSeed(sessionSeed: number, lane: 'main' | 'aux', number: number): number {
  const digest = createHash('sha256')
    .update(lane === 'main' ? `${sessionSeed}:${number}` : `${sessionSeed}:aux:${number}`)
    .digest();
  return Number(digest.readBigUInt64BE(0) >> 11n);
}

export function randomSeed(): number {
  return randomInt(2 ** 47);
}
