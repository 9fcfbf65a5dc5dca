/**
 * Group-relative advantages: (r - mean) / (population std + 1e-4) over the scored rollouts of one task. A group whose
 * rewards are all equal teaches nothing and is dropped (DAPO's dynamic sampling, arXiv 2503.14476 section 3.2); an
 * unscored rollout (null) is left out of mean and std and gets no advantage.
 */
export function groupAdvantages(rewards: readonly (number | null)[]): (number | null)[] {
  const scored = rewards.filter((r): r is number => r !== null);
  if (scored.length < 2) return rewards.map(() => null);
  const m = scored.reduce((a, b) => a + b, 0) / scored.length;
  const std = Math.sqrt(scored.reduce((sum, r) => sum + (r - m) ** 2, 0) / scored.length);
  if (std < 1e-6) return rewards.map(() => null);
  return rewards.map((r) => (r === null ? null : (r - m) / (std + 1e-4)));
}
