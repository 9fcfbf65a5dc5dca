import { expect, test } from 'vitest';
import { plantCanaries, scoreCanaries } from '../../main/sanitize/canary.js';
import { sanitizeBytes } from '../../main/sanitize/sanitize.js';

const input = Buffer.from(
  [
    ...Array.from({ length: 30 }, (_, i) =>
      JSON.stringify({ id: `m${i}`, text: `message ${i} "quoted" \\ of the user` }),
    ),
    '',
    'a plain line',
  ].join('\n'),
);

test('fakes of known kinds go, all are counted, and the records stay records', () => {
  const planted = plantCanaries(input);
  expect(planted).toEqual(plantCanaries(input));
  const lines = planted.bytes.toString().split('\n');
  expect(lines.length).toBe(32);
  for (const line of lines.slice(0, 30)) expect(JSON.parse(line)).toHaveProperty('text');
  const score = scoreCanaries(sanitizeBytes(planted.bytes).bytes, planted);
  expect(score.planted).toBe(planted.fakes.length);
  expect(score.planted).toBeGreaterThan(30);
  for (const { label, known, planted: all, gone } of score.kinds) if (known) expect(gone, label).toBe(all);
});

test('what is left is told', () => {
  const planted = plantCanaries(input);
  expect(scoreCanaries(planted.bytes, planted).gone).toBe(0);
  expect(plantCanaries(Buffer.from('\n\n')).fakes).toEqual([]);
});
