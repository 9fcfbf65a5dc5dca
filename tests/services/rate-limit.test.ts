import { expect, it } from 'vitest';
import { RateLimit } from '../../main/services/rate-limit.js';

it('allows a burst, then the rate, and saves up no more than a burst', () => {
  let now = 0;
  const limit = new RateLimit(10, 3, () => now);
  const allowed = (tries: number): number => Array.from({ length: tries }, () => limit.take()).filter(Boolean).length;
  expect(allowed(5)).toBe(3);
  now = 200;
  expect(allowed(5)).toBe(2);
  now = 60_000;
  expect(allowed(5)).toBe(3);
});
