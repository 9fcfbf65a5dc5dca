/**
 * Speed of the native engine on the demo model's shape (1.0 M parameters): training and decoding.
 *
 * usage: node tests/bench/engine-bench.mjs [--threads N] [--seconds S]     (0 threads = all cores)
 * Prints one JSON line; figures are the best of the repetitions, because the machine may be shared.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const engine = createRequire(import.meta.url)(join(root, 'build', 'native', 'engine.node'));
const { values } = parseArgs({
  options: { threads: { type: 'string', default: '0' }, seconds: { type: 'string', default: '3' } },
});
const threads = Number(values.threads);
const budgetMs = Number(values.seconds) * 1000;

const config = {
  model_type: 'llama',
  vocab_size: 2048,
  hidden_size: 128,
  intermediate_size: 352,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  max_position_embeddings: 4096,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  tie_word_embeddings: true,
};
const model = engine.initModel(config, { seed: 1, std: 0.02, threads });
const ids = (n, seed) => Int32Array.from({ length: n }, (_, i) => (i * 7919 + seed * 104729 + ((i * i) % 131)) % 2048);

/** Repeats `body` (returns units of work) for the time budget; best units per second. */
async function best(body) {
  let top = 0;
  const end = performance.now() + budgetMs;
  do {
    const start = performance.now();
    const units = await body();
    top = Math.max(top, (units / (performance.now() - start)) * 1000);
  } while (performance.now() < end);
  return Math.round(top);
}

// 6k tokens a step in rows of the three bucket lengths of pre-training.
const lengths = [832, 832, 512, 512, 512, 512, 320, 320, 320, 320, 320, 320, 320];
const sftRows = lengths.map((n, i) => ({ inputIds: ids(n, i), weights: new Float32Array(n).fill(1) }));
const tokens = lengths.reduce((a, b) => a + b, 0);
const full = model.newTrainer(null, { optimizer: 'muon', betas: [0.9, 0.95] });
const pretrain = await best(async () => {
  await full.step(sftRows, { loss: 'sft' }, 1e-3);
  return tokens;
});
full.free();

const adapter = model.createAdapter({ rank: 16, alpha: 32, seed: 1 });
const rlRows = lengths.map((n, i) => ({
  inputIds: ids(n, i),
  completionMask: Uint8Array.from({ length: n }, (_, t) => (t > n * 0.7 ? 1 : 0)),
  oldLogprobs: new Float32Array(n).fill(-7),
  advantage: i % 2 ? 1 : -1,
}));
const lora = model.newTrainer(adapter, {});
const reinforce = await best(async () => {
  await lora.step(rlRows, { loss: 'dapo' }, 1e-4);
  return tokens;
});
lora.free();

/** Decodes `count` sequences with a context of 300 tokens for `steps` tokens each. */
async function decode(count, steps, sequenceAdapter) {
  const sequences = Array.from({ length: count }, () => model.newSequence(sequenceAdapter));
  const sample = { temperature: 0.8, seed: 1 };
  let last = await model.decode(sequences.map((sequence, i) => ({ sequence, ids: ids(300, i), sample })));
  const start = performance.now();
  for (let s = 0; s < steps; s++)
    last = await model.decode(
      sequences.map((sequence, i) => ({ sequence, ids: Int32Array.of(last[i].token), sample })),
    );
  const ms = performance.now() - start;
  for (const sequence of sequences) sequence.free();
  return { tokensPerSecond: (count * steps * 1000) / ms, microsecondsPerStep: (ms * 1000) / steps };
}
async function bestDecode(count, sequenceAdapter) {
  let top = { tokensPerSecond: 0 };
  for (let i = 0; i < 5; i++) {
    const run = await decode(count, 100, sequenceAdapter);
    if (run.tokensPerSecond > top.tokensPerSecond) top = run;
  }
  return { tokensPerSecond: Math.round(top.tokensPerSecond), microsecondsPerStep: Math.round(top.microsecondsPerStep) };
}
const prefill = await best(async () => {
  const sequence = model.newSequence();
  await model.decode([{ sequence, ids: ids(1024, 3) }]);
  sequence.free();
  return 1024;
});

const cpu = engine.cpuFeatures();
console.log(
  JSON.stringify({
    cpu: cpu.brand,
    kernels: cpu.kernels,
    threads: threads || cpu.threads,
    parameters: model.info.parameters,
    pretrainTokensPerSecond: pretrain,
    loraTokensPerSecond: reinforce,
    prefillTokensPerSecond: prefill,
    decode1: await bestDecode(1, null),
    decode8: await bestDecode(8, null),
    decode8Lora: await bestDecode(8, adapter),
    decode32Lora: await bestDecode(32, adapter),
  }),
);
