/** Shared prefixes against PyTorch: the golden batch as a tree, and adapters of experts. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeShared } from '../support/shared.js';
import { ARCHITECTURES, type Golden, lossFor, readJson, samplesFor, worstShare } from './golden.js';
import { addon, maxDiff, readSafetensors } from './support.js';

interface TreeLayout {
  input_ids: number[];
  expected_loss_dapo: number;
}

interface GoldenExperts {
  forward: { input_ids: number[]; logprobs: number[] }[];
  loss: number;
  grad_norm: number;
  old_logprobs: number[][];
}

describeShared('trees against PyTorch', (shared) => {
  for (const architecture of ARCHITECTURES)
    it(`${architecture}: shared prefixes change neither loss nor gradients`, async () => {
      const dir = join(shared, 'golden', architecture);
      const golden = readJson<Golden>(dir, 'golden.json');
      const layout = readJson<TreeLayout>(dir, 'tree_layout.json');
      const reference = readSafetensors(join(dir, 'golden.safetensors'));
      const model = await addon.loadModel(join(dir, 'hf'));
      const adapter = await model.loadAdapter(join(dir, 'adapter'));
      const { config } = golden.losses.dapo!;
      const [samples, loss] = [samplesFor(golden, config), lossFor(golden, config)];
      const plain = await model.newTrainer(adapter, { share: false }).gradients(samples, loss);
      const tree = await model.newTrainer(adapter).gradients(samples, loss);
      expect([plain.forwardedTokens, tree.forwardedTokens]).toEqual([212, layout.input_ids.length]);
      expect(Math.abs(tree.loss - layout.expected_loss_dapo)).toBeLessThan(1e-5);
      expect(Math.abs(tree.loss - plain.loss)).toBeLessThan(1e-6);
      for (const [name, values] of Object.entries(tree.tensors)) {
        expect(worstShare(values, reference.get(`grad.dapo.${name}`)!.values), name).toBeLessThan(1);
        expect(maxDiff(values, plain.tensors[name]!), name).toBeLessThan(2e-5);
      }
    });

  it('lfm2_moe: adapters of the experts', async () => {
    const dir = join(shared, 'golden', 'lfm2_moe');
    const golden = readJson<Golden>(dir, 'golden.json');
    const experts = readJson<GoldenExperts>(dir, 'golden_experts.json');
    const reference = readSafetensors(join(dir, 'golden_experts.safetensors'));
    const model = await addon.loadModel(join(dir, 'hf'));
    const adapter = await model.loadAdapter(join(dir, 'adapter_experts'));
    const scored = await model.logprobs(
      experts.forward.map((f) => Int32Array.from(f.input_ids)),
      adapter,
    );
    scored.forEach((row, i) => {
      expect(maxDiff(row, experts.forward[i]!.logprobs)).toBeLessThan(5e-5);
    });
    const { config } = golden.losses.dapo!;
    const samples = samplesFor(golden, config).map((sample, i) => ({
      ...sample,
      oldLogprobs: Float32Array.from(experts.old_logprobs[i]!),
    }));
    for (const share of [true, false]) {
      const result = await model.newTrainer(adapter, { share }).gradients(samples, lossFor(golden, config));
      expect(Math.abs(result.loss - experts.loss)).toBeLessThan(1e-5);
      expect(Math.abs(result.gradNorm / experts.grad_norm - 1)).toBeLessThan(1e-4);
      expect(Object.keys(result.tensors).length).toBe(reference.size);
      for (const [name, values] of Object.entries(result.tensors))
        expect(worstShare(values, reference.get(`grad.dapo.${name}`)!.values), name).toBeLessThan(1);
    }
  });

  it('a base kept in the bits of its file has the gradients of the same base in fp32', async () => {
    for (const file of ['llama.Q8_0.gguf', 'llama.Q4_0.gguf', 'llama_k.Q4_K_M.gguf']) {
      const path = join(shared, 'golden', 'gguf_quant', file);
      const rows = [31, 18, 25].map((n, i) => ({
        inputIds: Int32Array.from({ length: n }, (_, t) => (t < 9 ? 3 + t : 3 + ((t * 37 + i * 11) % 300))),
        weights: new Float32Array(n).fill(1),
      }));
      const run = async (options: { precision: 'fp32'; trainable?: boolean }) => {
        const model = await addon.loadModel(path, options);
        const adapter = model.createAdapter({ rank: 4, alpha: 8, seed: 3 });
        const trainer = model.newTrainer(adapter);
        await trainer.step(rows, { loss: 'sft' }, 0.01);
        return trainer.gradients(rows, { loss: 'sft' });
      };
      const packed = await run({ precision: 'fp32' });
      const dense = await run({ precision: 'fp32', trainable: true });
      expect(Math.abs(packed.loss - dense.loss)).toBeLessThan(1e-5);
      for (const [name, values] of Object.entries(packed.tensors))
        expect(worstShare(values, dense.tensors[name]!), `${file} ${name}`).toBeLessThan(1);
    }
  });
});
