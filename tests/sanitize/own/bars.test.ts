/** The sanitizer against the project's own labelled cases: every case in some of the records it can come in. */
import { expect, test } from 'vitest';
import { sanitizeBytes } from '../../../main/sanitize/sanitize.js';
import { allLines, score } from './score.js';

/** Every case is met in a fifth of its records; all of them by TACKROOM_ALL_WRAPS=1. */
const STEP = process.env.TACKROOM_ALL_WRAPS ? 1 : 5;

test('own cases', { timeout: 120_000 }, () => {
  const lines = allLines().filter((_, i) => i % STEP === 0);
  const { classes, failures } = score((line) => sanitizeBytes(Buffer.from(line)).bytes.toString(), lines);
  const told = failures.map(({ what, id, wrap, excerpt }) => `${what} ${id} ${wrap} ${excerpt}`).slice(0, 20);
  for (const name of ['shape', 'context', 'structural', 'personal']) {
    const { spans, gone, right, wrong, overReach, lines: count, invalid } = classes[name]!;
    expect(gone / spans, `${name}: recall\n${told.join('\n')}`).toBeGreaterThanOrEqual(0.99);
    expect(right / (right + wrong), `${name}: precision\n${told.join('\n')}`).toBeGreaterThanOrEqual(0.985);
    expect(overReach / count, `${name}: over-reach\n${told.join('\n')}`).toBeLessThanOrEqual(0.01);
    expect(invalid).toBe(0);
  }
  const { changed, lines: negatives, invalid } = classes.negative!;
  expect(changed / negatives, told.join('\n')).toBeLessThanOrEqual(0.01);
  expect(invalid).toBe(0);
});
