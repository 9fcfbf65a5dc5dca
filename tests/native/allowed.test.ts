import { describe, expect, it } from 'vitest';
import { codeOf, tinyModel, tokens } from './support.js';

const VOCAB = 61;
const mask = (...ids: number[]): Uint32Array => {
  const words = new Uint32Array(Math.ceil(VOCAB / 32));
  for (const id of ids) words[id >> 5]! |= 1 << (id & 31);
  return words;
};

/** log softmax of the last row, in double precision. */
function logSoftmax(row: Float32Array, temperature: number): number[] {
  const scaled = [...row].map((value) => value / temperature);
  const max = Math.max(...scaled);
  const sum = scaled.reduce((total, value) => total + Math.exp(value - max), 0);
  return scaled.map((value) => value - max - Math.log(sum));
}

describe('SampleOptions.allowed', () => {
  it('draws what is allowed only, in the proportions of the model, with unmasked log-probabilities', async () => {
    const model = tinyModel();
    const ids = tokens(12, 4);
    const reference = logSoftmax((await model.logits(ids)).subarray(11 * VOCAB), 0.9);
    // The least likely tokens: without the mask they would hardly ever be drawn.
    const rare = reference
      .map((logprob, id) => ({ logprob, id }))
      .sort((a, b) => a.logprob - b.logprob)
      .slice(0, 3)
      .map(({ id }) => id);
    const allowed = mask(...rare);
    const counts = new Map<number, number>();
    for (let seed = 0; seed < 600; seed++) {
      const sequence = model.newSequence();
      const [drawn] = await model.decode([{ sequence, ids, sample: { temperature: 0.9, seed, allowed } }]);
      expect(rare).toContain(drawn!.token);
      expect(drawn!.logprob).toBeCloseTo(reference[drawn!.token]!, 4);
      counts.set(drawn!.token, (counts.get(drawn!.token) ?? 0) + 1);
      sequence.free();
    }
    const total = rare.reduce((sum, id) => sum + Math.exp(reference[id]!), 0);
    for (const id of rare) {
      const expected = Math.exp(reference[id]!) / total;
      // Four standard deviations of 600 draws.
      expect(Math.abs((counts.get(id) ?? 0) / 600 - expected)).toBeLessThan(
        4 * Math.sqrt((expected * (1 - expected)) / 600) + 1e-9,
      );
    }
    model.free();
  });

  it('is greedy among the allowed and keeps to them under every filter', async () => {
    const model = tinyModel();
    const ids = tokens(9, 2);
    const reference = logSoftmax((await model.logits(ids)).subarray(8 * VOCAB), 1);
    const some = [5, 33, 60];
    const best = some.reduce((a, b) => (reference[b]! > reference[a]! ? b : a));
    const base = { seed: 3, allowed: mask(...some) };
    const first = async (sample: object): Promise<number> => {
      const sequence = model.newSequence();
      const [drawn] = await model.decode([{ sequence, ids, sample: { temperature: 1, ...base, ...sample } }]);
      return drawn!.token;
    };
    expect(await first({ temperature: 0 })).toBe(best);
    expect(await first({ topK: 1 })).toBe(best);
    expect(await first({ topP: 1e-6 })).toBe(best);
    expect(await first({ minP: 1 })).toBe(best);
    expect(some).toContain(await first({ topK: 20, topP: 0.99, minP: 0.001, repetitionPenalty: 1.3 }));
    model.free();
  });

  it('refuses a mask that allows nothing or has another length, and leaves the sequence as it was', async () => {
    const model = tinyModel();
    const sequence = model.newSequence();
    const decode = (allowed: Uint32Array) =>
      model.decode([{ sequence, ids: tokens(3, 1), sample: { temperature: 1, seed: 0, allowed } }]);
    expect(await codeOf(() => decode(mask()))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => decode(new Uint32Array(3).fill(1)))).toBe('BAD_ARGUMENT');
    const beyond = mask();
    beyond[1] = 1 << 30; // token 62 of a vocabulary of 61
    expect(await codeOf(() => decode(beyond))).toBe('BAD_ARGUMENT');
    expect(sequence.length).toBe(0);
    model.free();
  });
});
