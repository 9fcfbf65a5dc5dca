import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type NativeSequence, packageRoot } from '../../native/addon.js';
import { addon, codeOf, generate, policyRows, scratchDir, tinyConfig, tinyModel, tokens } from './support.js';

const scratch = scratchDir();
const sample = { temperature: 0, seed: 0 };

describe('freed objects', () => {
  it('throw BAD_ARGUMENT, and freeing twice is fine', async () => {
    const model = tinyModel();
    const sequence = model.newSequence();
    const trainer = model.newTrainer(null);
    sequence.free();
    sequence.free();
    expect(await codeOf(() => sequence.length)).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => sequence.truncate(0))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => model.decode([{ sequence, ids: tokens(3, 1) }]))).toBe('BAD_ARGUMENT');
    trainer.free();
    trainer.free();
    expect(await codeOf(() => trainer.steps)).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => trainer.step(policyRows(model), { loss: 'dapo' }, 0.1))).toBe('BAD_ARGUMENT');
    const adapter = model.createAdapter({ rank: 2, alpha: 2, seed: 1 });
    adapter.free();
    adapter.free();
    expect(await codeOf(() => adapter.hash())).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => adapter.rank)).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => model.newSequence(adapter))).toBe('BAD_ARGUMENT');
    model.free();
    model.free();
    expect(await codeOf(() => model.info)).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => model.newSequence())).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => model.logprobs([tokens(3, 1)]))).toBe('BAD_ARGUMENT');
  });

  it('work under way is finished', async () => {
    const model = tinyModel();
    const expected = (await generate(model, null, tokens(5, 1), 1)).ids[0];
    const sequence = model.newSequence();
    const adapter = model.createAdapter({ rank: 2, alpha: 2, seed: 1 });
    const trainer = model.newTrainer(adapter);
    const pending = [
      model.decode([{ sequence, ids: tokens(5, 1), sample }]),
      trainer.step(policyRows(model), { loss: 'dapo' }, 0.1),
    ] as const;
    sequence.free();
    trainer.free();
    model.free();
    const [answers, metrics] = await Promise.all(pending);
    expect(answers[0]!.token).toBe(expected);
    expect(metrics.trainedTokens).toBeGreaterThan(0);
    expect(adapter.hash()).toHaveLength(64);
  });

  it('memory comes back: many models one after the other', async () => {
    const dir = join(scratch, 'model');
    await tinyModel({ vocab_size: 8000, hidden_size: 128 }).save(dir);
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 40; i++) {
      const model = await addon.loadModel(dir, { threads: 2 });
      const sequence = model.newSequence();
      await model.decode([{ sequence, ids: tokens(8, i), sample }]);
      sequence.free();
      model.free();
    }
    // A model takes 8 MB, all of them together 330 MB.
    expect(process.memoryUsage().rss - before).toBeLessThan(160e6);
  });

  it('a process may end with models alive, idle or at work, or by an exception', () => {
    const script = (end: string) => `
      const engine = require(${JSON.stringify(join(packageRoot(), 'build', 'native', 'engine.node'))});
      const model = engine.initModel(${JSON.stringify({ ...tinyConfig, max_position_embeddings: 4096 })}, { seed: 1, std: 0.1 });
      const other = engine.initModel(${JSON.stringify(tinyConfig)}, { seed: 1, std: 0.1 });
      const sequence = model.newSequence();
      const work = () => model.decode([{ sequence, ids: new Int32Array(2000) }]);
      ${end}`;
    const status = (end: string) => spawnSync(process.execPath, ['-e', script(end)], { stdio: 'ignore' }).status;
    expect(status('work();')).toBe(0);
    expect(status('other.logits(new Int32Array(3));')).toBe(0);
    expect(status('work(); setTimeout(() => process.exit(5), 5);')).toBe(5);
    expect(status('work(); work(); process.exit(6);')).toBe(6);
    expect(status('work(); throw new Error();')).toBe(1);
    expect(status('work().then(() => { throw new Error(); });')).toBe(1);
  });
});

describe('a sequence that is being decoded', () => {
  it('cannot be changed meanwhile', async () => {
    const model = tinyModel();
    const sequence = model.newSequence();
    // The model takes one job at a time: behind a long one the decode is certain to be still open below.
    const before = model.logprobs(Array.from({ length: 100 }, (_, i) => tokens(400, i)));
    const pending = model.decode([{ sequence, ids: tokens(400, 1), sample }]);
    expect(await codeOf(() => sequence.truncate(0))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => sequence.clone())).toBe('BAD_ARGUMENT');
    await before;
    await pending;
    sequence.truncate(10);
    expect(sequence.length).toBe(10);
  });
});

describe('wrong arguments', () => {
  it('are named and change nothing', async () => {
    const model = tinyModel();
    const other = tinyModel();
    const sequence = model.newSequence();
    const decode = (item: object) => codeOf(() => model.decode([{ sequence, ids: tokens(2, 1), ...item } as never]));
    expect(await decode({ ids: Int32Array.of(61) })).toBe('BAD_ARGUMENT');
    expect(await decode({ ids: Int32Array.of(-1) })).toBe('BAD_ARGUMENT');
    expect(await decode({ ids: new Int32Array(0) })).toBe('BAD_ARGUMENT');
    expect(await decode({ ids: [1, 2] })).toBe('BAD_ARGUMENT');
    expect(await decode({ ids: new Float32Array(2) })).toBe('BAD_ARGUMENT');
    expect(await decode({ sequence: other.newSequence() })).toBe('BAD_ARGUMENT');
    expect(await decode({ sequence: model.createAdapter({ rank: 1, alpha: 1, seed: 0 }) })).toBe('BAD_ARGUMENT');
    expect(await decode({ sequence: {} as NativeSequence })).toBe('BAD_ARGUMENT');
    expect(await decode({ ids: tokens(513, 1) })).toBe('CONTEXT_FULL');
    expect(await decode({ sample: { temperature: -1, seed: 0 } })).toBe('BAD_ARGUMENT');
    expect(await decode({ sample: { temperature: 1, seed: 0.5 } })).toBe('BAD_ARGUMENT');
    expect(await decode({ sample: { temperature: 1, seed: 0, topP: 2 } })).toBe('BAD_ARGUMENT');
    expect(
      await codeOf(() =>
        model.decode([
          { sequence, ids: tokens(2, 1) },
          { sequence, ids: tokens(2, 1) },
        ]),
      ),
    ).toBe('BAD_ARGUMENT');
    expect(sequence.length).toBe(0);
    expect(await codeOf(() => model.newSequence(other.createAdapter({ rank: 1, alpha: 1, seed: 0 })))).toBe(
      'ADAPTER_MISMATCH',
    );
    expect(await codeOf(() => model.createAdapter({ rank: 0, alpha: 1, seed: 0 }))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => addon.initModel({ ...tinyConfig, hidden_size: 0 }, { seed: 1, std: 0.1 }))).toBe(
      'BAD_ARGUMENT',
    );
    expect(await codeOf(() => model.newTrainer(null, { betas: [1, 0.9] }))).toBe('BAD_ARGUMENT');
  });

  it('of a training step are named and change nothing', async () => {
    const model = tinyModel();
    const adapter = model.createAdapter({ rank: 2, alpha: 2, seed: 1 });
    const hash = adapter.hash();
    const trainer = model.newTrainer(adapter);
    const [row] = policyRows(model);
    const step = (sample: object, loss: object = {}, lr = 0.1) =>
      codeOf(() => trainer.step([{ ...row!, ...sample }], { loss: 'dapo', ...loss } as never, lr));
    expect(await step({ completionMask: new Uint8Array(3) })).toBe('BAD_ARGUMENT');
    expect(await step({ completionMask: new Uint8Array(9) })).toBe('BAD_ARGUMENT');
    expect(await step({ oldLogprobs: undefined })).toBe('BAD_ARGUMENT');
    expect(await step({ advantage: Number.NaN })).toBe('BAD_ARGUMENT');
    expect(await step({ inputIds: Int32Array.from({ length: 9 }, () => 99) })).toBe('BAD_ARGUMENT');
    expect(await step({ refLogprobs: undefined }, { beta: 0.1 })).toBe('BAD_ARGUMENT');
    expect(await step({ samplingLogprobs: undefined }, { isMode: 'token_mask' })).toBe('BAD_ARGUMENT');
    expect(await step({}, { loss: 'ppo' })).toBe('BAD_ARGUMENT');
    expect(await step({}, { loss: 'dr_grpo' })).toBe('BAD_ARGUMENT');
    expect(await step({}, { temperature: 0 })).toBe('BAD_ARGUMENT');
    expect(await step({}, {}, Number.NaN)).toBe('BAD_ARGUMENT');
    expect(await step({ oldLogprobs: new Float32Array(9).fill(Number.NaN) })).toBe('NOT_FINITE');
    expect(await codeOf(() => trainer.step([], { loss: 'dapo' }, 0.1))).toBe('BAD_ARGUMENT');
    expect(trainer.steps).toBe(0);
    expect(adapter.hash()).toBe(hash);
  });
});
