// Step 2 of the recipe: pre-trains the model and writes it to resources/demo-model. Killed, it goes on from its last
// checkpoint. Usage: node scripts/demo-model/train.mjs [--threads N] [--out DIR] [--keep]   (--keep: leave resources alone)
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pretrain } from '../../dist/main/models/demo/pretrain/train.js';
import { loadAddon, promptAndTokenizer, resources, workDir } from './shared.mjs';

const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: '2' },
    out: { type: 'string', default: workDir },
    keep: { type: 'boolean', default: false },
  },
});
const { prompt, tokenizer } = await promptAndTokenizer();
const { model, progress } = await pretrain({
  addon: loadAddon(),
  tokenizer,
  prompt,
  outDir: values.out,
  threads: Number(values.threads),
  log: console.log,
});
const saved = join(values.out, 'model');
await model.save(saved, 'BF16');
console.log(`${progress.step} steps, ${(progress.seconds / 60).toFixed(1)} min.`);
if (!values.keep) {
  for (const name of ['config.json', 'model.safetensors']) cpSync(join(saved, name), join(resources, name));
}
model.free();
