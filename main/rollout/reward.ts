/** The reward of a rollout: correct first, then short. */

const SHORTNESS_BONUS = 0.1;
/** Tool calls at which the bonus has run out. */
const BONUS_CALLS = 15;

/**
 * `verifier`: what the task's tests gave, null when there is no score. `calls`: tool calls the policy sampled, blocked
 * ones too. `blocked`: how many of them the guard stopped; one is enough for 0, whatever else happened.
 * Returns null when there is nothing to learn from: a missing reward is not a reward of 0.
 */
export function rolloutReward(verifier: number | null, calls: number, blocked: number): number | null {
  if (blocked > 0) return 0;
  if (verifier === null) return null;
  if (verifier < 1) return 0;
  return verifier + SHORTNESS_BONUS * Math.max(0, 1 - calls / BONUS_CALLS);
}
