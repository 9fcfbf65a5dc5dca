/**
 * One measurement of node-llama-cpp, in a process of its own.
 *
 * usage: node node-llama.mjs '{"model": FILE, "threads": N, "flash": BOOL, "measure": "decode"|"prefill", "lora": FILE, ...}'
 * Prints one JSON line: { decode1, decode8 } or { prefill512, ... }, tokens per second, best of `repeats`.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeDir } from '../../../../scripts/peers/paths.mjs';
import { tokens } from '../ours/open.mjs';

const entry = join(nodeDir, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
const { getLlama } = await import(pathToFileURL(entry).href);
const options = JSON.parse(process.argv[2]);
const { threads, repeats, prompt, steps } = options;

const llama = await getLlama({
  gpu: false,
  build: 'never',
  skipDownload: true,
  maxThreads: threads,
  logLevel: 'error',
});
const model = await llama.loadModel({ modelPath: options.model, gpuLayers: 0 });
const newContext = (sequences, contextSize) =>
  model.createContext({
    sequences,
    contextSize,
    batchSize: 512,
    threads,
    flashAttention: options.flash,
    lora: options.lora ? { adapters: [{ filePath: options.lora, scale: 1 }] } : undefined,
  });
let seed = 1;
const ids = (count) => Array.from(tokens(count, seed++));

async function decodeRate(count) {
  const context = await newContext(count, Math.max(512, prompt + steps + 32));
  const sequences = Array.from({ length: count }, () => context.getSequence());
  let best = 0;
  for (let i = 0; i < repeats; i++) {
    for (const sequence of sequences) await sequence.clearHistory();
    await Promise.all(sequences.map((sequence) => sequence.evaluateWithoutGeneratingNewTokens(ids(prompt - 1))));
    let drawn = 0;
    const start = performance.now();
    await Promise.all(
      sequences.map(async (sequence) => {
        let own = 0;
        for await (const _ of sequence.evaluate(ids(1), { temperature: 0, yieldEogToken: true })) {
          drawn++;
          if (++own >= steps) break;
        }
      }),
    );
    best = Math.max(best, (1000 * drawn) / (performance.now() - start));
  }
  await context.dispose();
  return best;
}

async function prefillRate(count) {
  const context = await newContext(1, count + 64);
  const sequence = context.getSequence();
  await sequence.evaluateWithoutGeneratingNewTokens(ids(16));
  let best = 0;
  for (let i = 0; i < repeats; i++) {
    await sequence.clearHistory();
    const start = performance.now();
    await sequence.evaluateWithoutGeneratingNewTokens(ids(count));
    best = Math.max(best, (1000 * count) / (performance.now() - start));
  }
  await context.dispose();
  return best;
}

const result = {};
if (options.measure === 'decode')
  for (const count of options.counts) result[`decode${count}`] = await decodeRate(count);
else for (const length of options.lengths) result[`prefill${length}`] = await prefillRate(length);
console.log(JSON.stringify(result));
process.exit(0);
