import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rolloutReward } from '../../main/rollout/reward.js';

describe('the reward of a rollout', () => {
  it.each([
    [1, 0, 0, 1.1],
    [1, 3, 0, 1.08],
    [1, 15, 0, 1],
    [1, 40, 0, 1],
    [0, 1, 0, 0],
    [0.9, 1, 0, 0],
    [1, 1, 1, 0],
    [null, 1, 2, 0],
    [null, 1, 0, null],
  ])('verifier %s, %s calls, %s blocked: %s', (verifier, calls, blocked, reward) => {
    const got = rolloutReward(verifier, calls, blocked);
    if (reward === null) expect(got).toBeNull();
    else expect(got).toBeCloseTo(reward, 12);
  });

  it('never rewards a longer way more, nor a wrong answer at all', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), fc.double({ min: 0, max: 0.999, noNaN: true }), (a, b, wrong) => {
        const [few, many] = [Math.min(a, b), Math.max(a, b)];
        expect(rolloutReward(1, few, 0)).toBeGreaterThanOrEqual(rolloutReward(1, many, 0) as number);
        expect(rolloutReward(wrong, few, 0)).toBe(0);
      }),
    );
  });
});
