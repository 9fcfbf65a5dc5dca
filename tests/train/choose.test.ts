import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../contract/records.js';
import { chooseCheckpoint, type ScoredCheckpoint } from '../../main/train/choose.js';

/** `fails`: which of 48 tasks it fails. */
function checkpoint(step: number, fails: number[], callsPerSolved: number): ScoredCheckpoint {
  const pass = new Map(Array.from({ length: 48 }, (_, i) => [`t${i}`, fails.includes(i) ? 0 : 1]));
  return {
    evaluation: {
      id: `v-${step}`,
      checkpointId: `c-${step}`,
      step,
      pass1: 1 - fails.length / 48,
      callsPerSolved,
    } as Evaluation,
    pass,
  };
}

describe('chooseCheckpoint', () => {
  it('takes fewer calls where the scores differ by noise', () => {
    // Three tasks more failed out of 48: 1.8 standard errors.
    const chosen = chooseCheckpoint([checkpoint(24, [3], 3.4), checkpoint(30, [3, 7, 8], 2.6), checkpoint(6, [], 4)]);
    expect(chosen.step).toBe(30);
  });
  it('does not trade a real loss for fewer calls', () => {
    expect(chooseCheckpoint([checkpoint(24, [3], 3.4), checkpoint(30, [1, 2, 3, 4, 5, 6, 7, 8, 9], 1.1)]).step).toBe(
      24,
    );
  });
  it('prefers the later one when all else is equal', () => {
    expect(chooseCheckpoint([checkpoint(12, [1], 2), checkpoint(18, [1], 2)]).step).toBe(18);
  });
  it('copes with a checkpoint that solves nothing', () => {
    const nothing = checkpoint(
      6,
      Array.from({ length: 48 }, (_, i) => i),
      0,
    );
    nothing.evaluation.callsPerSolved = null;
    expect(chooseCheckpoint([nothing]).step).toBe(6);
    expect(() => chooseCheckpoint([])).toThrow();
  });
});
