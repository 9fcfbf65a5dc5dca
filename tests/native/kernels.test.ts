/** Every kernel set this processor has, compared with the plainest one. A set is chosen per process, hence the children. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../native/addon.js';
import { addon, maxDiff } from './support.js';

interface Result {
  kernels: string;
  logprobs: number[];
  gradients: number[];
  loss: number;
}

/** Scores and differentiates models of several odd widths under one kernel set. */
function run(kernels: string): Result {
  const script = `
    const engine = require(${JSON.stringify(join(packageRoot(), 'build', 'native', 'engine.node'))});
    (async () => {
      const logprobs = [], gradients = []; let loss = 0;
      for (const [hidden, ffn, dim] of [[20, 27, 6], [64, 96, 16], [33, 130, 34]]) {
        const model = engine.initModel({ model_type: 'qwen3', vocab_size: 101, hidden_size: hidden, intermediate_size: ffn, num_hidden_layers: 2,
          num_attention_heads: 4, num_key_value_heads: 2, head_dim: dim, tie_word_embeddings: false }, { seed: 3, std: 0.2, threads: 1 });
        const ids = Int32Array.from({ length: 131 }, (_, i) => (i * i * 7 + 3) % 101);
        logprobs.push(...(await model.logprobs([ids]))[0]);
        const result = await model.newTrainer(null).gradients([{ inputIds: ids, weights: new Float32Array(131).fill(1) }], { loss: 'sft' });
        loss += result.loss;
        for (const t of Object.values(result.tensors)) gradients.push(...t);
      }
      console.log(JSON.stringify({ kernels: engine.cpuFeatures().kernels, logprobs, gradients, loss }));
    })();`;
  const env = { ...process.env, TACKROOM_KERNELS: kernels };
  return JSON.parse(
    execFileSync(process.execPath, ['-e', script], { env, encoding: 'utf8', maxBuffer: 64 << 20 }),
  ) as Result;
}

const cpu = addon.cpuFeatures();
const baseline = run('baseline');

for (const [name, available] of [
  ['avx2', cpu.avx2],
  ['avx512', cpu.avx512],
] as const)
  it(`${name} agrees with the baseline`, ({ skip }) => {
    if (!available) skip(`this processor has no ${name}`);
    const result = run(name);
    expect([baseline.kernels, result.kernels]).toEqual(['baseline', name]);
    expect(maxDiff(result.logprobs, baseline.logprobs)).toBeLessThan(5e-5);
    expect(maxDiff(result.gradients, baseline.gradients)).toBeLessThan(2e-5);
    expect(Math.abs(result.loss - baseline.loss)).toBeLessThan(1e-5);
  });

it('a level with tiles takes the fp32 kernels of AVX-512', ({ skip }) => {
  if (!cpu.amx) skip('this processor has no tiles');
  expect(run('amx')).toEqual(run('avx512'));
});

it('an unknown set is refused', () => {
  expect(() => run('avx1024')).toThrow(/no kernel set/);
});

it('says what it runs on', () => {
  expect(cpu.threads).toBeGreaterThan(0);
  expect(['baseline', 'avx2', 'avx512']).toContain(cpu.kernels);
  expect(cpu.brand.length).toBeGreaterThan(0);
});
