/** `engine step`: what its batch file may hold, and that its options reach the update. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { stepCommand } from '../../main/engine/cli-step.js';
import { learningRate } from '../../main/engine/learning-rate.js';
import { parseStepBatch, stepSchedule } from '../../main/engine/step-batch.js';
import { ARCHITECTURES, type GoldenFull, readJson } from '../native/golden.js';
import { addon, policyRows, scratchDir, tinyModel } from '../native/support.js';
import { describeShared } from '../support/shared.js';

const SAMPLE = { input_ids: [5, 6, 7], completion_mask: [0, 1, 1], old_logprobs: [null, -1, -2], advantage: 1 };
const refusal = (batch: object): { code: string; message: string; hint: string } => {
  try {
    parseStepBatch(batch);
  } catch (error) {
    return error as { code: string; message: string; hint: string };
  }
  throw new Error('The batch was accepted.');
};

describe('an unknown key', () => {
  it('of the batch is named, and the known ones', () => {
    const error = refusal({ samples: [SAMPLE], lr: 1e-3, clip_hi: 0.3 });
    expect(error).toMatchObject({ code: 'BAD_ARGUMENT', message: 'The batch has an unknown key: "clip_hi".' });
    for (const key of ['samples', 'clip_high', 'lr', 'lr_schedule', 'max_grad_norm', 'opsm'])
      expect(error.hint).toContain(key);
  });

  it('comes before the key that is missing for it', () => {
    expect(refusal({ samples: [SAMPLE], learning_rate: 1e-3, Steps: 2 }).message).toBe(
      'The batch has unknown keys: "learning_rate", "Steps".',
    );
    expect(refusal({ samples: [SAMPLE] }).message).toMatch(/^The batch is wrong at lr: /);
  });

  it('of a sample is named with its place', () => {
    const error = refusal({ samples: [SAMPLE, { ...SAMPLE, advantages: 2 }], lr: 1e-3 });
    expect(error.message).toBe('Sample 1 has an unknown key: "advantages".');
    expect(error.hint).toMatch(/^Known keys: input_ids, completion_mask, .*advantage,/);
  });
});

it('a schedule that cannot be followed is refused', () => {
  expect(refusal({ samples: [SAMPLE], lr: 1e-3, min_lr: 1e-4 }).message).toMatch(/constant/);
  expect(refusal({ samples: [SAMPLE], lr: 1e-3, lr_schedule: 'cosine', warmup_steps: 3, steps: 3 }).message).toMatch(
    /warm-up/,
  );
});

it('its learning rates are those of the schedule, and those of the updates', async () => {
  const dir = scratchDir();
  const model = tinyModel();
  await model.save(join(dir, 'model'));
  await model.createAdapter({ rank: 3, alpha: 6, seed: 1 }).save(join(dir, 'adapter'), 'tiny');
  const options = { lr: 0.01, lr_schedule: 'cosine', warmup_steps: 1, min_lr: 0.001, steps: 4 } as const;
  const rows = policyRows(model);
  const samples = rows.map((row) => ({
    input_ids: [...row.inputIds],
    completion_mask: [...row.completionMask!],
    old_logprobs: [...row.oldLogprobs!],
    advantage: row.advantage,
  }));
  writeFileSync(join(dir, 'batch.json'), JSON.stringify({ samples, ...options }));
  const stdout = new PassThrough();
  const io = {
    stdin: Readable.from([]),
    stdout,
    stderr: new PassThrough(),
    interactive: false,
    signal: new AbortController().signal,
  };
  const command = {
    model: join(dir, 'model'),
    adapter: join(dir, 'adapter'),
    precision: 'fp32',
    batch: join(dir, 'batch.json'),
  };
  expect(await stepCommand({ ...command, output: join(dir, 'out') }, io as never)).toBe(0);
  const lines = String(stdout.read())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const wanted = [0.01, 0.01, 0.001 + 0.009 * 0.75, 0.001 + 0.009 * 0.25];
  for (const [i, lr] of wanted.entries()) expect(lines[i].learning_rate).toBeCloseTo(lr, 12);

  const same = await addon.loadModel(join(dir, 'model'), { precision: 'fp32' });
  const adapter = await same.loadAdapter(join(dir, 'adapter'));
  const trainer = same.newTrainer(adapter);
  for (const lr of wanted) await trainer.step(rows, { loss: 'dapo' }, lr);
  expect((await same.loadAdapter(join(dir, 'out'))).hash()).toBe(adapter.hash());
});

describeShared('golden batches', (shared) => {
  for (const name of ARCHITECTURES)
    it(`${name}: every key is known`, () => {
      const { batch } = readJson<{ batch: { lr: number; steps: number } }>(shared, 'golden', name, 'step.json');
      const schedule = stepSchedule(parseStepBatch(batch));
      expect([1, 2, 3].map((step) => learningRate(schedule, step))).toEqual([batch.lr, batch.lr, batch.lr]);
      if (name === 'lfm2_moe') return;
      // As check_cli.py makes it.
      const { samples, adamw } = readJson<GoldenFull>(shared, 'golden', name, 'full.json');
      const { steps, ...optimizer } = adamw;
      const all = parseStepBatch({
        samples,
        loss: 'sft',
        train: 'all',
        temperature: 1,
        ...optimizer,
        steps: steps.length,
      });
      expect(all.samples).toHaveLength(samples.length);
    });
});
