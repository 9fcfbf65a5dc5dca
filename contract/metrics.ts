/**
 * Names of the per-step training metrics that the run page draws. The trainer may log any number of others; they are
 * kept and exported, and listed in the step table.
 */
export const METRIC = {
  /** Mean reward of the scored rollouts of the step. */
  reward: 'reward',
  /** Tool calls per solved rollout of the step; 0 when none was solved. */
  callsPerSolved: 'tools/calls_per_solved',
  /** Tool calls that the guard blocked during the step. */
  blocked: 'guard/blocked_calls',
  loss: 'loss',
  gradNorm: 'grad_norm',
  entropy: 'entropy',
  kl: 'kl',
  /** Seconds from the first rollout of the step to the new weights. */
  stepSeconds: 'perf/step_s',
} as const;
