/** Our engine as its process runs it: the addon, one model and the scheduler from `dist/`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..', 'dist');
const load = (path) => import(pathToFileURL(join(dist, path)).href);

/** { model, scheduler, addon } with the engine's own limits. */
export async function openEngine(path, threads) {
  const { loadAddon } = await load('native/addon.js');
  const { Scheduler } = await load('main/engine/scheduler.js');
  const addon = loadAddon();
  const model = await addon.loadModel(path, { threads });
  const limitsFile = 'main/engine/limits.js';
  let limits = 60_000;
  if (existsSync(join(dist, limitsFile))) {
    const { DEFAULT_LIMITS, defaultKvBytes } = await load(limitsFile);
    limits = { ...DEFAULT_LIMITS, kvBytes: defaultKvBytes(model.info, freemem()) };
  }
  return { addon, model, scheduler: new Scheduler(model, limits) };
}

/** Ordinary tokens of SmolLM2 (its first ids are control tokens), the same for the same seed. */
export function tokens(count, seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return Int32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 300 + ((state >>> 8) % 48_000);
  });
}

/** Gives the B matrices of a saved PEFT adapter (zero at first) small values, so that the adapter does something. */
function fillB(file) {
  const bytes = readFileSync(file);
  const headerBytes = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + headerBytes).toString('utf8'));
  let state = 1;
  for (const [name, tensor] of Object.entries(header)) {
    if (!name.includes('lora_B')) continue;
    if (tensor.dtype !== 'F32') throw new Error(`${name} is ${tensor.dtype}, expected F32`);
    const [begin, end] = tensor.data_offsets;
    for (let at = 8 + headerBytes + begin; at < 8 + headerBytes + end; at += 4) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      bytes.writeFloatLE((state / 2 ** 32 - 0.5) * 0.02, at);
    }
  }
  writeFileSync(file, bytes);
}

/** A random adapter on every linear layer, written as a PEFT folder once and loaded from there. */
export async function randomAdapter(model, dir, rank) {
  const file = join(dir, 'adapter_model.safetensors');
  if (!existsSync(file)) {
    await model.createAdapter({ rank, alpha: 2 * rank, seed: 1 }).save(dir, 'SmolLM2-135M');
    fillB(file);
  }
  return model.loadAdapter(dir);
}
