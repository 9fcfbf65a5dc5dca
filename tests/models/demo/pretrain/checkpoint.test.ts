import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Checkpoints, FRESH } from '../../../../main/models/demo/pretrain/checkpoint.js';
import { learningRate, RECIPE } from '../../../../main/models/demo/pretrain/recipe.js';
import { unpackBatches } from '../../../../main/models/demo/pretrain/reference.js';
import { startModel } from '../../../../main/models/demo/pretrain/train.js';
import { loadAddon, packageRoot } from '../../../../native/addon.js';

const root = packageRoot();
const batches = unpackBatches(readFileSync(join(root, 'tests', 'fixtures', 'demo-model', 'first-batches.json.gz'))).map(
  (rows) => rows.slice(0, 2),
);

it.skipIf(!existsSync(join(root, 'build', 'native', 'engine.node')))(
  'goes on from a checkpoint with the same losses and keeps one state file',
  { timeout: 60_000 },
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tackroom-checkpoint-'));
    try {
      const addon = loadAddon();
      const step = async (trainer: ReturnType<typeof startModel>['trainer'], i: number) =>
        (await trainer.step(batches[i]!, { loss: 'sft' }, 1e-3)).loss;
      const first = startModel(addon, 1);
      const checkpoints = new Checkpoints(dir);
      expect(await checkpoints.restore(first.trainer)).toEqual(FRESH);
      await step(first.trainer, 0);
      await checkpoints.save(first.trainer, { ...FRESH, step: 1 });
      await step(first.trainer, 1);
      await checkpoints.save(first.trainer, { ...FRESH, step: 2, tokens: 77 });
      const expected = [await step(first.trainer, 2), await step(first.trainer, 3)];

      const second = startModel(addon, 1);
      expect(await new Checkpoints(dir).restore(second.trainer)).toMatchObject({ step: 2, tokens: 77 });
      expect([await step(second.trainer, 2), await step(second.trainer, 3)]).toEqual(expected);
      expect(readdirSync(dir).sort()).toEqual(['progress.json', 'state-2.bin']);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
);

it('warms up, stays, and decays to the end', () => {
  const { peakLr, warmUpSteps, finalLr } = RECIPE.train;
  expect(learningRate(0, 0)).toBeCloseTo(peakLr / warmUpSteps, 8);
  expect(learningRate(warmUpSteps, 0.1)).toBe(peakLr);
  expect(learningRate(1000, 0.59)).toBe(peakLr);
  expect(learningRate(1000, 0.8)).toBeCloseTo(peakLr / 2, 8);
  expect(learningRate(2000, 1)).toBeCloseTo(peakLr * finalLr, 8);
});
