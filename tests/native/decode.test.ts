import { describe, expect, it } from 'vitest';
import { generate, maxDiff, tinyModel, tokens, trainedAdapter } from './support.js';

describe('cache', () => {
  it('gives what the uncached forward gives, token by token, across attention blocks', async () => {
    const model = tinyModel();
    const ids = tokens(230, 1);
    const [scored] = await model.logprobs([ids]);
    const sequence = model.newSequence();
    // Teacher-forced: at temperature 0 the log-probability of the drawn token is that of softmax(logits).
    for (let t = 0; t < 229; t++) {
      const [answer] = await model.decode([
        { sequence, ids: ids.subarray(t, t + 1), sample: { temperature: 0, seed: 0 } },
      ]);
      if (answer!.token === ids[t + 1]) expect(answer!.logprob).toBe(scored![t + 1]);
    }
    expect(sequence.length).toBe(229);
    const logits = await model.logits(ids);
    const last = logits.subarray(229 * 61);
    const [answer] = await model.decode([{ sequence, ids: ids.subarray(229), sample: { temperature: 0, seed: 0 } }]);
    expect(answer!.token).toBe(last.indexOf(Math.max(...last)));
  });

  it('sampled log-probabilities are bit for bit those of scoring', async () => {
    const model = tinyModel();
    const adapter = await trainedAdapter(model, 2);
    const prompt = tokens(37, 2);
    const { ids, logprobs } = await generate(model, adapter, prompt, 80, { temperature: 0.8, seed: 11 });
    const [scored] = await model.logprobs([Int32Array.from([...prompt, ...ids])], adapter, 0.8);
    expect(maxDiff(logprobs, scored!.subarray(37))).toBe(0);
  });

  it.each([
    ['all keys', {}],
    [
      'a window',
      {
        model_type: 'gemma3_text',
        hidden_activation: 'gelu_pytorch_tanh',
        sliding_window: 450,
        layer_types: ['sliding_attention', 'full_attention'],
      },
    ],
  ])('a long context, whose keys the threads share, gives the same bits: %s', async (_name, shape) => {
    const long = { max_position_embeddings: 1600, ...shape };
    const prompt = tokens(1140, 8);
    const sample = { temperature: 1, seed: 3 };
    const [one, two] = [tinyModel(long, { threads: 1 }), tinyModel(long, { threads: 2 })];
    const alone = await generate(one, null, prompt, 40, sample);
    expect(await generate(two, null, prompt, 40, sample)).toEqual(alone);
    const [scored] = await two.logprobs([Int32Array.from([...prompt, ...alone.ids])]);
    expect(maxDiff(alone.logprobs, scored!.subarray(1140))).toBe(0);
    // Enough company that every token's keys stay with one thread.
    const items = Array.from({ length: 12 }, () => ({ sequence: two.newSequence(), ids: prompt.subarray(0, 1139) }));
    await two.decode(items);
    const answers = await two.decode(items.map(({ sequence }) => ({ sequence, ids: prompt.subarray(1139), sample })));
    for (const answer of answers) expect([answer.token, answer.logprob]).toEqual([alone.ids[0], alone.logprobs[0]]);
  });

  it('prefill in pieces, truncation and copies change nothing', async () => {
    const model = tinyModel();
    const ids = tokens(150, 3);
    const sample = { temperature: 0, seed: 0 };
    const whole = model.newSequence();
    const [expected] = await model.decode([{ sequence: whole, ids, sample }]);
    const pieces = model.newSequence();
    await model.decode([{ sequence: pieces, ids: ids.subarray(0, 70) }]);
    await model.decode([{ sequence: pieces, ids: tokens(30, 9) }]);
    pieces.truncate(70);
    const copy = pieces.clone();
    const short = pieces.clone(20);
    expect([copy.length, short.length]).toEqual([70, 20]);
    const answers = await model.decode([
      { sequence: pieces, ids: ids.subarray(70), sample },
      { sequence: copy, ids: ids.subarray(70), sample },
      { sequence: short, ids: ids.subarray(20), sample },
    ]);
    for (const answer of answers) expect(answer).toEqual(expected);
  });
});

describe('batches', () => {
  it('a result does not depend on what else is in the batch, with an adapter of its own each', async () => {
    const model = tinyModel();
    const adapters = [null, await trainedAdapter(model, 1), await trainedAdapter(model, 2), null];
    const prompts = [tokens(5, 1), tokens(120, 2), tokens(1, 3), tokens(44, 4)];
    const sample = { temperature: 0.9, seed: 5 };
    const alone = await Promise.all(prompts.map((prompt, i) => generate(model, adapters[i]!, prompt, 12, sample)));
    const sequences = adapters.map((adapter) => model.newSequence(adapter));
    const made: { ids: number[]; logprobs: number[] }[] = prompts.map(() => ({ ids: [], logprobs: [] }));
    let next = prompts;
    for (let step = 0; step < 12; step++) {
      const answers = await model.decode(sequences.map((sequence, i) => ({ sequence, ids: next[i]!, sample })));
      answers.forEach((answer, i) => {
        made[i]!.ids.push(answer.token);
        made[i]!.logprobs.push(answer.logprob);
      });
      next = answers.map((answer) => Int32Array.of(answer.token));
    }
    expect(made).toEqual(alone);
    expect(new Set(alone.map((a) => a.logprobs[0])).size).toBe(4);
  });

  it('fills the cache without sampling', async () => {
    const model = tinyModel();
    const sequence = model.newSequence();
    expect(await model.decode([{ sequence, ids: tokens(4, 1) }])).toEqual([{ token: -1, logprob: 0 }]);
    expect(await model.decode([])).toEqual([]);
    expect(sequence.length).toBe(4);
  });
});

describe('sampling', () => {
  const draw = async (sample: Parameters<typeof generate>[4], n = 40) =>
    generate(tinyModel(), null, tokens(9, 1), n, sample);

  it('the seed and the position fix the draw', async () => {
    const a = await draw({ temperature: 1, seed: 123 });
    expect(await draw({ temperature: 1, seed: 123 })).toEqual(a);
    expect((await draw({ temperature: 1, seed: 124 })).ids).not.toEqual(a.ids);
    expect((await draw({ temperature: 1, seed: 2 ** 53 - 1 })).ids).not.toEqual(a.ids);
  });

  it('draws with the frequencies of the distribution', async () => {
    const model = tinyModel();
    const prompt = tokens(6, 8);
    const logits = (await model.logits(prompt)).subarray(5 * 61);
    const weights = Array.from(logits, (x) => Math.exp(x / 1.5));
    const total = weights.reduce((a, b) => a + b);
    const base = model.newSequence();
    await model.decode([{ sequence: base, ids: prompt.subarray(0, 5) }]);
    const counts = new Array<number>(61).fill(0);
    const n = 4000;
    for (let begin = 0; begin < n; begin += 200) {
      const sequences = Array.from({ length: 200 }, () => base.clone());
      const answers = await model.decode(
        sequences.map((sequence, i) => ({
          sequence,
          ids: prompt.subarray(5),
          sample: { temperature: 1.5, seed: begin + i },
        })),
      );
      for (const { token } of answers) counts[token]!++;
    }
    const chi2 = counts.reduce(
      (sum, c, i) => sum + (c - (n * weights[i]!) / total) ** 2 / ((n * weights[i]!) / total),
      0,
    );
    // 60 degrees of freedom: mean 60, standard deviation 11.
    expect(chi2).toBeLessThan(120);
  });

  it('topK 1, a tiny topP and minP 1 are greedy; the log-probability stays that of the full distribution', async () => {
    const greedy = await draw({ temperature: 0, seed: 0 });
    for (const filter of [{ topK: 1 }, { topP: 1e-6 }, { minP: 1 }]) {
      const filtered = await draw({ temperature: 1, seed: 3, ...filter });
      expect(filtered.ids).toEqual(greedy.ids);
      expect(maxDiff(filtered.logprobs, greedy.logprobs)).toBe(0);
    }
  });

  it('filters only remove: topK 5 draws among the five most likely', async () => {
    const model = tinyModel();
    const prompt = tokens(6, 8);
    const logits = Array.from((await model.logits(prompt)).subarray(5 * 61));
    const best = logits
      .map((x, i) => [x, i] as const)
      .sort((a, b) => b[0] - a[0])
      .slice(0, 5)
      .map(([, i]) => i);
    const seen = new Set<number>();
    for (let seed = 0; seed < 60; seed++) {
      const [answer] = await model.decode([
        { sequence: model.newSequence(), ids: prompt, sample: { temperature: 2, topK: 5, seed } },
      ]);
      seen.add(answer!.token);
    }
    expect([...seen].every((token) => best.includes(token))).toBe(true);
    expect(seen.size).toBeGreaterThan(2);
  });

  it('a strong repetition penalty forbids repeats', async () => {
    const { ids } = await draw({ temperature: 0, seed: 0, repetitionPenalty: 1e6 }, 20);
    expect(new Set(ids).size).toBe(20);
    expect(ids.some((id) => tokens(9, 1).includes(id))).toBe(false);
  });
});
