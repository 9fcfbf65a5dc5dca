import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AdapterPool } from '../../main/engine/adapter-pool.js';
import { STATE_FILE, TrainerSession } from '../../main/engine/trainer-session.js';
import { RunConfig } from '../../main/train/run-config.js';
import { codeOf, scratchDir, tinyModel, tokens } from '../native/support.js';

const mixture = () =>
  tinyModel({
    model_type: 'lfm2_moe',
    layer_types: ['conv', 'full_attention'],
    num_dense_layers: 1,
    num_experts: 3,
    num_experts_per_tok: 2,
    moe_intermediate_size: 16,
    use_expert_bias: true,
    norm_topk_prob: true,
    conv_L_cache: 3,
    norm_eps: 1e-5,
  });
const optimizer = { weightDecay: 0.1 };
const ids = tokens(12, 1);
const sample = {
  inputIds: [...ids],
  completionMask: Array.from(ids, (_, t) => (t < 4 ? 0 : 1)),
  oldLogprobs: Array.from(ids, () => -4),
  advantage: 1,
};

it('trains what the run file says of experts, and resumes it', async () => {
  const model = mixture();
  const scratch = scratchDir();
  const saved: Record<string, { target_parameters?: string[] }> = {};
  for (const experts of ['none', 'shared', 'each'] as const) {
    const config = RunConfig.parse({ experts, rank: 2, alpha: 4 });
    const shape = { rank: config.rank, alpha: config.alpha, seed: 1, experts: config.experts };
    const pool = new AdapterPool(model, join(scratch, 'registry'));
    const session = await TrainerSession.open(model, pool, { ...shape, optimizer });
    await session.step([sample], { loss: 'dapo' }, 0.01);
    const dir = join(scratch, experts);
    const { hash } = await session.save(dir, 'tiny');
    saved[experts] = JSON.parse(readFileSync(join(dir, 'adapter_config.json'), 'utf8'));
    const again = await TrainerSession.open(model, pool, { ...shape, optimizer, state: join(dir, STATE_FILE) });
    expect([again.steps, again.publish()]).toEqual([1, hash]);
    expect((await model.loadAdapter(dir)).hash()).toBe(hash);
    session.close();
    again.close();
  }
  expect(saved.none?.target_parameters ?? []).toEqual([]);
  expect(saved.each?.target_parameters).not.toEqual([]);
  const [none, shared, each] = ['none', 'shared', 'each'].map((name) => statSync(join(scratch, name, STATE_FILE)).size);
  expect(shared).toBeGreaterThan(none!);
  expect(each).toBeGreaterThan(shared!);
});

it('refuses expert adapters of a model without experts', async () => {
  const model = tinyModel();
  const pool = new AdapterPool(model, scratchDir());
  const params = { rank: 2, alpha: 4, seed: 1, experts: 'each' as const, optimizer };
  expect(await codeOf(() => TrainerSession.open(model, pool, params))).toBe('BAD_ARGUMENT');
  expect(RunConfig.safeParse({ experts: 'all' }).success).toBe(false);
});
