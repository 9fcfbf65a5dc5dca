/**
 * The planner against what happens: bytes and tokens a second of real steps, over shapes and lengths.
 *
 * usage: node tests/bench/planner.mjs [MODEL ...]
 * MODEL is a folder or a GGUF; without one, two random models. Prints a line a case and exits with 1 when a figure is off by
 * more than 15 % (bytes) or 30 % (speed; on an idle machine).
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const addon = createRequire(import.meta.url)(join(root, 'build', 'native', 'engine.node'));
const shape = (hidden, ffn, layers, heads, kvHeads) => ({
  model_type: 'llama',
  vocab_size: 8192,
  hidden_size: hidden,
  intermediate_size: ffn,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  num_key_value_heads: kvHeads,
  max_position_embeddings: 4096,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  tie_word_embeddings: true,
});
const RANK = 16;
const given = process.argv.slice(2);
const models =
  given.length > 0
    ? await Promise.all(given.map(async (path) => [path, await addon.loadModel(path)]))
    : [
        ['random 384 x 6', addon.initModel(shape(384, 1024, 6, 6, 2), { seed: 1, std: 0.02 })],
        ['random 768 x 4', addon.initModel(shape(768, 2048, 4, 12, 4), { seed: 1, std: 0.02 })],
      ];

let off = 0;
for (const [name, model] of models) {
  const speeds = await model.calibrate(RANK);
  for (const longest of [128, 512, 2048]) {
    const tokens = 2048;
    const rows = Array.from({ length: tokens / longest }, (_, i) => ({
      inputIds: Int32Array.from({ length: longest }, (_, t) => 3 + ((t * 7919 + i * 10473 + 11 * i * t) % 8000)),
      weights: new Float32Array(longest).fill(1),
    }));
    const plan = model.planTraining({ rank: RANK, tokens, longest }, speeds);
    const trainer = model.newTrainer(model.createAdapter({ rank: RANK, alpha: RANK, seed: 1 }));
    const before = process.memoryUsage().rss;
    await trainer.step(rows, { loss: 'sft' }, 1e-4);
    const grown = process.memoryUsage().rss - before;
    const steps = [];
    for (let i = 0; i < 3; i++) steps.push((await trainer.step(rows, { loss: 'sft' }, 1e-4)).seconds);
    const held = (await trainer.memory()).total;
    const speed = tokens / Math.min(...steps);
    const [bytes, time] = [plan.memory.total / held, plan.tokensPerSecond / speed];
    const good = Math.abs(bytes - 1) <= 0.15 && Math.abs(time - 1) <= 0.3;
    if (!good) off++;
    console.log(
      `${name}, rows of ${longest}: ${(plan.memory.total / 1e6).toFixed(0)} MB planned, ${(held / 1e6).toFixed(0)} held, ${(grown / 1e6).toFixed(0)} grown; ` +
        `${plan.tokensPerSecond.toFixed(0)} tok/s planned, ${speed.toFixed(0)} measured${good ? '' : '  <- off'}`,
    );
    trainer.free();
  }
  model.free();
}
process.exitCode = off > 0 ? 1 : 0;
