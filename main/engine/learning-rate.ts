/**
 * Learning rate of an update: a warm-up from 0, then a constant, or a linear or cosine fall to a floor.
 *
 * Update t counts from 1. With W warm-up steps of T, peak p and floor f:
 *
 *     t <= W     p * t / W
 *     constant   p
 *     linear     f + (p - f) * (1 - x)
 *     cosine     f + (p - f) * (1 + cos(pi * x)) / 2        x = min(1, (t - 1 - W) / (T - W))
 *
 * With floor 0 and after the warm-up these are the rates that Hugging Face's `get_linear_schedule_with_warmup` and
 * `get_cosine_schedule_with_warmup` (transformers/optimization.py) give update t. Their warm-up is one step behind: it spends
 * the first update on a rate of 0.
 */
export const LR_SCHEDULES = ['constant', 'linear', 'cosine'] as const;

export interface LrSchedule {
  shape: (typeof LR_SCHEDULES)[number];
  peak: number;
  /** Of linear and cosine: reached after `totalSteps` updates, kept from then on. */
  floor: number;
  warmupSteps: number;
  totalSteps: number;
}

/** Rate of update `step` (1 = the first). Depends on nothing else, so a resumed run repeats it. */
export function learningRate({ shape, peak, floor, warmupSteps, totalSteps }: LrSchedule, step: number): number {
  if (step <= warmupSteps) return (peak * step) / warmupSteps;
  if (shape === 'constant') return peak;
  const fallen = Math.min(1, (step - 1 - warmupSteps) / (totalSteps - warmupSteps));
  const left = shape === 'linear' ? 1 - fallen : (1 + Math.cos(Math.PI * fallen)) / 2;
  return floor + (peak - floor) * left;
}

/** What is wrong with a schedule, as a sentence; null when it can be followed. */
export function scheduleFault({ shape, peak, floor, warmupSteps, totalSteps }: LrSchedule): string | null {
  if (shape === 'constant')
    return floor > 0
      ? `A constant learning rate never reaches the floor of ${floor}: leave it out, or choose a linear or cosine schedule.`
      : null;
  if (floor > peak) return `The floor of the learning rate, ${floor}, is above the rate it falls from, ${peak}.`;
  if (warmupSteps >= totalSteps)
    return `A warm-up of ${warmupSteps} steps leaves none of the schedule's ${totalSteps} to fall in.`;
  return null;
}
