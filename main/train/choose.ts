/**
 * Which checkpoint of a run is the best one. By validation pass@1 alone the choice among good checkpoints is a draw of
 * lots: on some fifty tasks they differ by less than the noise. So: of those that are not significantly worse than the
 * one with the highest pass@1 (the 95 % interval of the paired difference reaches 0), the one that needs the fewest tool
 * calls for a solved task; then the later one.
 */
import type { Evaluation } from '../../contract/records.js';
import { pairedDifference } from './statistics.js';

export interface ScoredCheckpoint {
  evaluation: Evaluation;
  /** Mean score of each validation task by its id. */
  pass: ReadonlyMap<string, number>;
}

/** Errors: when there is no checkpoint at all. */
export function chooseCheckpoint(scored: readonly ScoredCheckpoint[]): Evaluation {
  const highest = scored.reduce<ScoredCheckpoint | undefined>(
    (best, one) =>
      !best ||
      one.evaluation.pass1 > best.evaluation.pass1 ||
      (one.evaluation.pass1 === best.evaluation.pass1 && one.evaluation.step > best.evaluation.step)
        ? one
        : best,
    undefined,
  );
  if (!highest) throw new Error('no checkpoint to choose from');
  const eligible = scored.filter((one) => {
    const ids = [...highest.pass.keys()].filter((id) => one.pass.has(id));
    const top = ids.map((id) => highest.pass.get(id)!);
    const its = ids.map((id) => one.pass.get(id)!);
    return pairedDifference(its, top).ci95[0] <= 0;
  });
  return eligible
    .map((one) => one.evaluation)
    .reduce((best, one) => {
      const [a, b] = [one.callsPerSolved ?? Number.POSITIVE_INFINITY, best.callsPerSolved ?? Number.POSITIVE_INFINITY];
      return a < b || (a === b && one.step > best.step) ? one : best;
    });
}
