import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeShared } from '../support/shared.js';
import { ARCHITECTURES, type Golden, readJson } from './golden.js';
import { addon, codeOf, generate, maxDiff, readSafetensors } from './support.js';

// Tolerances: ../shared/golden/README.md.
describeShared('forward pass against PyTorch', (shared) => {
  for (const architecture of ARCHITECTURES) {
    const dir = join(shared, 'golden', architecture);
    const open = async () => {
      const model = await addon.loadModel(join(dir, 'hf'));
      return {
        model,
        adapter: await model.loadAdapter(join(dir, 'adapter')),
        golden: readJson<Golden>(dir, 'golden.json'),
      };
    };

    it(`${architecture}: logits`, async () => {
      const { model, adapter, golden } = await open();
      const reference = readSafetensors(join(dir, 'golden.safetensors'));
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
    });

    it(`${architecture}: log-probabilities of base and adapter at both temperatures`, async () => {
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

    it(`${architecture}: greedy tokens`, async () => {
      const { model, adapter, golden } = await open();
      const prompt = Int32Array.from(golden.greedy.prompt);
      expect((await generate(model, null, prompt, 32)).ids).toEqual(golden.greedy.base);
      expect((await generate(model, adapter, prompt, 32)).ids).toEqual(golden.greedy.adapter);
    });
  }

  it('names an architecture it does not run', async () => {
    for (const architecture of ['lfm2', 'lfm2_moe', 'gemma3']) {
      const load = () => addon.loadModel(join(shared, 'golden', architecture, 'hf'));
      expect(await codeOf(load)).toBe('MODEL_UNSUPPORTED');
      await expect(load()).rejects.toThrow(architecture.replace('gemma3', 'gemma3_text'));
    }
    expect(await codeOf(() => addon.loadModel(join(shared, 'golden', 'llama', 'model.f32.gguf')))).toBe(
      'MODEL_UNSUPPORTED',
    );
  });

  it("refuses another model's adapter", async () => {
    const model = await addon.loadModel(join(shared, 'golden', 'qwen2', 'hf'));
    expect(await codeOf(() => model.loadAdapter(join(shared, 'golden', 'llama', 'adapter')))).toBe('ADAPTER_MISMATCH');
  });
});
