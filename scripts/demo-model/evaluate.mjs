// Plays held-out tasks in a simulated pi and prints pass@1 and calls, sampled and greedy.
// Usage: node scripts/demo-model/evaluate.mjs [--model DIR] [--adapter DIR] [--tasks N] [--temperature T] [--threads N] [--show N]
import { parseArgs } from 'node:util';
import { KIND_NAMES, makeDataTask } from '../../dist/main/envs/generate/data-task.js';
import { CommandWorker } from '../../dist/main/models/demo/simulate/command-worker.js';
import { rollOut, score } from '../../dist/main/models/demo/simulate/rollout.js';
import { loadAddon, promptAndTokenizer, resources } from './shared.mjs';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: resources },
    adapter: { type: 'string' },
    tasks: { type: 'string', default: '168' },
    temperature: { type: 'string', default: '0.8' },
    threads: { type: 'string', default: '2' },
    show: { type: 'string', default: '0' },
  },
});
const { prompt, tokenizer } = await promptAndTokenizer();
const model = await loadAddon().loadModel(values.model, { threads: Number(values.threads) });
const adapter = values.adapter ? await model.loadAdapter(values.adapter) : null;
const worker = new CommandWorker();
const sim = { model, tokenizer, prompt, worker };
const tasks = Array.from({ length: Number(values.tasks) }, (_, i) =>
  makeDataTask(`eval-${i}`, 'held', { kind: KIND_NAMES[i % KIND_NAMES.length] }),
);
for (const temperature of [Number(values.temperature), 0]) {
  const started = performance.now();
  const episodes = await rollOut(sim, tasks, { adapter, group: 1, temperature, seed: 1 });
  const { pass, callsPerSolved, calls } = score(episodes);
  console.log(
    `temperature ${temperature}: pass@1 ${pass.toFixed(3)}, ${callsPerSolved.toFixed(2)} calls per solved task, ${calls.toFixed(2)} per task (${((performance.now() - started) / 1000).toFixed(1)} s)`,
  );
  const byKind = KIND_NAMES.map(
    (kind) => `${kind} ${score(episodes.filter((e) => e.task.kind === kind)).pass.toFixed(2)}`,
  );
  console.log(`  ${byKind.join(', ')}`);
  for (const episode of episodes.filter((e) => !e.solved).slice(0, Number(values.show))) {
    const start = episode.ids.indexOf(tokenizer.control('<|user|>'));
    console.log(
      `--- ${episode.task.kind}, expected ${episode.task.answer}\n${tokenizer.decode(episode.ids.slice(start))}`,
    );
  }
}
worker.close();
model.free();
