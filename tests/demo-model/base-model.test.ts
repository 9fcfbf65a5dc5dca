import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KIND_NAMES, makeDataTask } from '../../main/envs/generate/data-task.js';
import { BpeTokenizer } from '../../main/models/demo/bpe.js';
import { capturePiPrompt, privatePi } from '../../main/models/demo/capture-pi.js';
import { completedFile, demoModelDir } from '../../main/models/demo/complete-tokenizer.js';
import { readPiPrompt } from '../../main/models/demo/pi-lines.js';
import { copyProbes, runProbes } from '../../main/models/demo/pretrain/copy-probe.js';
import { CommandWorker } from '../../main/models/demo/simulate/command-worker.js';
import { rollOut, score } from '../../main/models/demo/simulate/rollout.js';
import { loadAddon, packageRoot } from '../../native/addon.js';

const ready = existsSync(join(packageRoot(), 'build', 'native', 'engine.node')) && existsSync(privatePi().cli);
const TASKS = 160;

describe('the demo base model', () => {
  it('is small', () => {
    expect(statSync(join(demoModelDir(), 'model.safetensors')).size).toBeLessThan(3_000_000);
  });

  it.skipIf(!ready)('is no straw man, yet leaves room to learn, on held-out tasks', { timeout: 120_000 }, async () => {
    const body = await capturePiPrompt(privatePi());
    const prompt = readPiPrompt(body)!;
    const tokenizer = new BpeTokenizer(completedFile(body));
    const model = await loadAddon().loadModel(demoModelDir(), { threads: 2 });
    const worker = new CommandWorker();
    try {
      const copied = await runProbes(model, copyProbes(tokenizer, prompt, 'held', 40));
      expect(copied.span).toBeGreaterThan(0.95);
      const tasks = Array.from({ length: TASKS }, (_, i) =>
        makeDataTask(`base-${i}`, 'held', { kind: KIND_NAMES[i % KIND_NAMES.length]! }),
      );
      const sim = { model, tokenizer, prompt, worker };
      const result = score(await rollOut(sim, tasks, { adapter: null, group: 1, temperature: 0.8, seed: 3 }));
      expect(result.pass).toBeGreaterThanOrEqual(0.5);
      expect(result.pass).toBeLessThan(0.78);
      expect(result.callsPerSolved).toBeGreaterThan(3);
    } finally {
      worker.close();
      model.free();
    }
  });
});
