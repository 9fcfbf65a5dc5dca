import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeShared } from '../support/shared.js';
import { readJson } from './golden.js';
import { addon, codeOf } from './support.js';

interface Vector {
  bytes: string;
  expect: string;
  shape: [number, number];
}

/** Types whose values are one product (and one sum): every decoder must give the same bits. */
const EXACT = ['F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1'];

describeShared('dequantisation of the golden blocks', (shared) => {
  const dir = join(shared, 'golden', 'quants');
  const vectors = readJson<Record<string, Vector>>(dir, 'manifest.json');

  it('covers every type that the engine reads', () => {
    expect(Object.keys(vectors).sort()).toEqual(
      [...EXACT, 'Q2_K', 'Q3_K', 'Q4_K', 'Q5_K', 'Q6_K', 'IQ4_NL', 'IQ4_XS'].sort(),
    );
  });

  for (const [type, vector] of Object.entries(vectors))
    it(type, () => {
      const expected = new Float32Array(new Uint8Array(readFileSync(join(dir, vector.expect))).buffer);
      const count = vector.shape[0] * vector.shape[1];
      const values = addon.dequantize(type, new Uint8Array(readFileSync(join(dir, vector.bytes))), count);
      expect(values.length).toBe(expected.length);
      const allowed = EXACT.includes(type) ? 0 : 1e-6;
      for (const [i, value] of values.entries())
        if (!(Math.abs(value - expected[i]!) <= allowed * Math.abs(expected[i]!)))
          throw new Error(`value ${i} is ${value}, not ${expected[i]}`);
    });
});

describe('dequantize refuses', () => {
  it('unknown types and counts that do not fit the bytes', async () => {
    expect(await codeOf(() => addon.dequantize('Q9_9', new Uint8Array(34), 32))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => addon.dequantize('Q8_0', new Uint8Array(34), 31))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => addon.dequantize('Q8_0', new Uint8Array(33), 32))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => addon.dequantize('Q4_K', new Uint8Array(144), 32))).toBe('BAD_ARGUMENT');
  });
});
