// Checks that reinforcement learning lifts the model: GRPO on training tasks in a simulated pi, then held-out tasks.
// Usage: node scripts/demo-model/grpo-sim.mjs [--model DIR] [--steps N] [--seed S] [--lr X] [--threads N] [--out DIR]
import { parseArgs } from 'node:util';
import { KIND_NAMES, makeDataTask } from '../../dist/main/envs/generate/data-task.js';
import { CommandWorker } from '../../dist/main/models/demo/simulate/command-worker.js';
import { GRPO, grpoStep } from '../../dist/main/models/demo/simulate/grpo.js';
import { rollOut, score } from '../../dist/main/models/demo/simulate/rollout.js';
import { loadAddon, promptAndTokenizer, resources } from './shared.mjs';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: resources },
    steps: { type: 'string', default: '24' },
    seed: { type: 'string', default: '0' },
    lr: { type: 'string', default: String(GRPO.lr) },
    threads: { type: 'string', default: '2' },
    every: { type: 'string', default: '8' },
    out: { type: 'string' },
  },
});
const { prompt, tokenizer } = await promptAndTokenizer();
const model = await loadAddon().loadModel(values.model, { threads: Number(values.threads) });
const adapter = model.createAdapter({ rank: 16, alpha: 32, seed: Number(values.seed) });
const trainer = model.newTrainer(adapter, { optimizer: 'adamw', betas: [0.9, 0.95], weightDecay: 0, maxGradNorm: 1 });
const worker = new CommandWorker();
const sim = { model, tokenizer, prompt, worker };
const tasks = Array.from({ length: 168 }, (_, i) =>
  makeDataTask(`eval-${i}`, 'held', { kind: KIND_NAMES[i % KIND_NAMES.length] }),
);
const show = ({ pass, callsPerSolved, calls }) =>
  `pass ${pass.toFixed(3)} calls/solved ${callsPerSolved.toFixed(2)} calls ${calls.toFixed(2)}`;
async function evaluate(step) {
  const sampled = score(await rollOut(sim, tasks, { adapter, group: 1, temperature: GRPO.temperature, seed: 1 }));
  const greedy = score(await rollOut(sim, tasks, { adapter, group: 1, temperature: 0, seed: 1 }));
  console.log(`held-out at step ${step}: sampled ${show(sampled)} | greedy ${show(greedy)}`);
}

await evaluate(0);
const started = performance.now();
for (let step = 1; step <= Number(values.steps); step++) {
  const { episodes, used, metrics, rolloutSeconds, trainSeconds } = await grpoStep(sim, adapter, trainer, step, {
    ...GRPO,
    seed: `rl-${values.seed}`,
    lr: Number(values.lr),
  });
  console.log(
    `step ${step}: ${show(score(episodes))} used ${used} grad ${metrics?.gradNorm.toFixed(2)} kl ${metrics?.kl.toExponential(1)} rollout ${rolloutSeconds.toFixed(1)} s train ${trainSeconds.toFixed(1)} s`,
  );
  if (step % Number(values.every) === 0) await evaluate(step);
}
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s with evaluations.`);
if (values.out) await adapter.save(values.out, 'tackroom-demo');
worker.close();
trainer.free();
model.free();
