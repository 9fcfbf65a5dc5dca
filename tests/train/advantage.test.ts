import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { groupAdvantages } from '../../main/train/advantage.js';
import { describeShared } from '../support/shared.js';

describe('groupAdvantages', () => {
  it('centres and scales by the population deviation', () => {
    const a = groupAdvantages([1, 0, 0, 1]) as number[];
    expect(a[0]).toBeCloseTo(0.5 / (0.5 + 1e-4), 9);
    expect(a.reduce((x, y) => x + y, 0)).toBeCloseTo(0, 9);
  });
  it('drops a group that teaches nothing', () => {
    expect(groupAdvantages([1, 1, 1])).toEqual([null, null, null]);
    expect(groupAdvantages([0, 0])).toEqual([null, null]);
  });
  it('leaves an unscored rollout out instead of taking it for 0', () => {
    const a = groupAdvantages([1, null, 0.5]);
    expect(a[1]).toBeNull();
    expect(a[0]! + a[2]!).toBeCloseTo(0, 9);
    expect(groupAdvantages([1, null])).toEqual([null, null]);
  });
});

describeShared('groupAdvantages against the golden batch', (shared) => {
  it('agrees but for the epsilon (1e-8 there, 1e-4 here)', () => {
    const batch = JSON.parse(readFileSync(join(shared, 'golden/llama/golden.json'), 'utf8')).batch as {
      samples: { reward: number; advantage_async: number }[];
    };
    for (const group of [batch.samples.slice(0, 4), batch.samples.slice(4)]) {
      const ours = groupAdvantages(group.map((s) => s.reward));
      for (const [i, s] of group.entries()) expect(Math.abs((ours[i] ?? 0) - s.advantage_async)).toBeLessThan(1e-3);
    }
  });
});
