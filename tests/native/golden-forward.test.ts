import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeShared } from '../support/shared.js';
import { ARCHITECTURES, GGUF_ARCHITECTURES, type Golden, readJson } from './golden.js';
import { addon, codeOf, generate, maxDiff, readSafetensors } from './support.js';

const forms = (shared: string) => [
  ...ARCHITECTURES.map((name) => ({ name, dir: join(shared, 'golden', name), model: 'hf', adapter: 'adapter' })),
  ...GGUF_ARCHITECTURES.map((name) => ({
    name: `${name} GGUF`,
    dir: join(shared, 'golden', name),
    model: 'model.f32.gguf',
    adapter: 'adapter.gguf',
  })),
];

// Tolerances: ../shared/golden/README.md.
describeShared('forward pass against PyTorch', (shared) => {
  for (const form of forms(shared)) {
    const open = async () => {
      const model = await addon.loadModel(join(form.dir, form.model), { precision: 'fp32' });
      return {
        model,
        adapter: await model.loadAdapter(join(form.dir, form.adapter)),
        golden: readJson<Golden>(form.dir, 'golden.json'),
      };
    };

    it(`${form.name}: logits and hidden states`, async () => {
      const { model, adapter, golden } = await open();
      const reference = readSafetensors(join(form.dir, 'golden.safetensors'));
      const vocab = model.info.vocabSize;
      for (const [k, forward] of golden.forward.entries())
        for (const [name, used] of [
          ['base', null],
          ['adapter', adapter],
        ] as const) {
          const logits = await model.logits(Int32Array.from(forward.input_ids), used);
          const rows = forward.logits_positions.flatMap((p) => Array.from(logits.subarray(p * vocab, (p + 1) * vocab)));
          expect(maxDiff(rows, reference.get(`fwd${k}.${name}.logits`)!.values)).toBeLessThan(1e-4);
        }
      // The last entry of the reference is after the final norm, ours before it: all but that one.
      const hidden = await model.hiddenStates(Int32Array.from(golden.forward[0]!.input_ids));
      const expected = reference.get('fwd0.base.hidden_states')!.values;
      const size = hidden[0]!.length;
      expect(expected.length).toBe(hidden.length * size);
      for (const [l, layer] of hidden.slice(0, -1).entries())
        expect(maxDiff(layer, expected.subarray(l * size, (l + 1) * size))).toBeLessThan(2e-4);
    });

    it(`${form.name}: log-probabilities of base and adapter at both temperatures`, async () => {
      const { model, adapter, golden } = await open();
      const ids = golden.forward.map((f) => Int32Array.from(f.input_ids));
      const base = await model.logprobs(ids);
      const cool = await model.logprobs(ids, null, 0.8);
      const adapted = await model.logprobs(ids, adapter);
      for (const [k, forward] of golden.forward.entries()) {
        expect(maxDiff(base[k]!, forward.base_logprobs)).toBeLessThan(5e-5);
        expect(maxDiff(cool[k]!, forward.base_logprobs_T08)).toBeLessThan(5e-5);
        expect(maxDiff(adapted[k]!, forward.adapter_logprobs)).toBeLessThan(5e-5);
      }
    });

    it(`${form.name}: greedy tokens`, async () => {
      const { model, adapter, golden } = await open();
      const prompt = Int32Array.from(golden.greedy.prompt);
      expect((await generate(model, null, prompt, 32)).ids).toEqual(golden.greedy.base);
      expect((await generate(model, adapter, prompt, 32)).ids).toEqual(golden.greedy.adapter);
    });
  }

  // Weights dequantised, inputs in fp32: exact. Inputs rounded: the error grows with the range of the logits, which is 14
  // in the random models of the first two files (measured: mean .02 in bf16 and .07 in 8 bits) and 6 in the third.
  for (const [file, mean16, mean8] of [
    ['llama.Q8_0', 0.03, 0.09],
    ['llama.Q4_0', 0.03, 0.09],
    ['llama_k.Q4_K_M', 0.006, 0.015],
  ] as const)
    it(`${file}: quantised weights in fp32, bf16 and 8-bit products`, async ({ skip }) => {
      const dir = join(shared, 'golden', 'gguf_quant');
      const { sequences } = readJson<{ sequences: { input_ids: number[]; logprobs: number[] }[] }>(dir, `${file}.json`);
      const ids = sequences.map((s) => Int32Array.from(s.input_ids));
      const worst = (got: Float32Array[]) => Math.max(...got.map((g, i) => maxDiff(g, sequences[i]!.logprobs)));
      const mean = (got: Float32Array[]) => {
        const gaps = got.flatMap((g, i) =>
          Array.from(g.subarray(1), (x, t) => Math.abs(x - sequences[i]!.logprobs[t + 1]!)),
        );
        return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
      };
      const open = (precision: 'fp32' | 'bf16' | 'int8') => addon.loadModel(join(dir, `${file}.gguf`), { precision });
      expect(worst(await (await open('fp32')).logprobs(ids))).toBeLessThan(5e-5);
      const served = await open('int8');
      expect(served.info.servingPrecision).toBe('int8');
      const int8 = await served.logprobs(ids, null, 1, 'serving');
      expect(mean(int8)).toBeLessThan(mean8);
      expect(worst(int8)).toBeLessThan(0.8);
      if (addon.cpuFeatures().bf16Body === '') skip('this processor has no bf16 products');
      const bf16 = await (await open('bf16')).logprobs(ids);
      expect(mean(bf16)).toBeLessThan(mean16);
      const training = served.info.trainingPrecision;
      if (training === 'bf16') expect(await served.logprobs(ids)).toEqual(bf16);
    });

  it('an adapter of experts, one pair each', async () => {
    const dir = join(shared, 'golden', 'lfm2_moe');
    const model = await addon.loadModel(join(dir, 'hf'));
    const adapter = await model.loadAdapter(join(dir, 'adapter_experts'));
    const golden = readJson<{ forward: { input_ids: number[]; logprobs: number[] }[] }>(dir, 'golden_experts.json');
    for (const forward of golden.forward) {
      const [logprobs] = await model.logprobs([Int32Array.from(forward.input_ids)], adapter);
      expect(maxDiff(logprobs!, forward.logprobs)).toBeLessThan(5e-5);
    }
  });

  it('names what it cannot run', async () => {
    const dir = join(shared, 'golden', 'llama', 'hf');
    expect(await codeOf(() => addon.loadModel(dir, { precision: 'int8' }))).toBe('BAD_ARGUMENT');
    await expect(addon.loadModel(dir, { precision: 'int8' })).rejects.toThrow(
      /not quantised but F32.*; use fp32, bf16/,
    );
    expect(await codeOf(() => addon.loadModel(dir, { precision: 'fp8' as never }))).toBe('BAD_ARGUMENT');
  });

  it("refuses another model's adapter", async () => {
    const model = await addon.loadModel(join(shared, 'golden', 'qwen2', 'hf'));
    expect(await codeOf(() => model.loadAdapter(join(shared, 'golden', 'llama', 'adapter')))).toBe('ADAPTER_MISMATCH');
    expect(await codeOf(() => model.loadAdapter(join(shared, 'golden', 'llama', 'adapter.gguf')))).toBe(
      'ADAPTER_MISMATCH',
    );
  });
});
