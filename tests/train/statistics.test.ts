import { describe, expect, it } from 'vitest';
import { pairedDifference, wilson } from '../../main/train/statistics.js';

describe('wilson', () => {
  it('agrees with published values', () => {
    // 8 of 10: [0.4902, 0.9433] (Newcombe 1998, method 3).
    const [low, high] = wilson(8, 10);
    expect(low).toBeCloseTo(0.4902, 3);
    expect(high).toBeCloseTo(0.9433, 3);
  });
  it('stays inside [0, 1] at the ends', () => {
    expect(wilson(0, 20)[0]).toBe(0);
    expect(wilson(20, 20)[1]).toBe(1);
    expect(wilson(0, 0)).toEqual([0, 1]);
  });
});

describe('pairedDifference', () => {
  it('is exact for a constant difference', () => {
    expect(pairedDifference([0, 0, 0], [1, 1, 1])).toEqual({ diff: 1, ci95: [1, 1] });
  });
  it('covers the true difference about 95 times in 100', () => {
    let state = 12345;
    const random = (): number => {
      state = (state * 1664525 + 1013904223) % 2 ** 32;
      return state / 2 ** 32;
    };
    let covered = 0;
    for (let trial = 0; trial < 400; trial++) {
      const before: number[] = [];
      const after: number[] = [];
      for (let i = 0; i < 160; i++) {
        before.push(random() < 0.6 ? 1 : 0);
        after.push(random() < 0.8 ? 1 : 0);
      }
      const { ci95 } = pairedDifference(before, after);
      if (ci95[0] <= 0.2 && 0.2 <= ci95[1]) covered++;
    }
    expect(covered / 400).toBeGreaterThan(0.91);
    expect(covered / 400).toBeLessThan(0.985);
  });
});
