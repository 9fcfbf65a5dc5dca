/** Learning-rate schedules against values worked out by hand and against the definitions they follow. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LR_SCHEDULES, type LrSchedule, learningRate, scheduleFault } from '../../main/engine/learning-rate.js';
import { RunConfig, runSchedule } from '../../main/train/run-config.js';
import { policyRows, scratchDir, tinyModel } from '../native/support.js';

const schedule = (change: Partial<LrSchedule>): LrSchedule => ({
  ...{ shape: 'constant', peak: 1, floor: 0, warmupSteps: 2, totalSteps: 6 },
  ...change,
});
const rates = (change: Partial<LrSchedule>, updates = 8): number[] =>
  Array.from({ length: updates }, (_, i) => learningRate(schedule(change), i + 1));
const close = (got: number[], want: number[]) => {
  expect(got).toHaveLength(want.length);
  for (const [i, value] of want.entries()) expect(got[i], `update ${i + 1}`).toBeCloseTo(value, 12);
};

describe('the rate of each update', () => {
  it('constant', () => {
    close(rates({}), [0.5, 1, 1, 1, 1, 1, 1, 1]);
    close(rates({ warmupSteps: 0, peak: 3e-4 }, 2), [3e-4, 3e-4]);
    // The demo's: 4 steps of warm-up.
    close(rates({ peak: 1.5e-3, warmupSteps: 4 }, 6), [0.375e-3, 0.75e-3, 1.125e-3, 1.5e-3, 1.5e-3, 1.5e-3]);
  });

  it('linear', () => {
    close(rates({ shape: 'linear' }), [0.5, 1, 1, 0.75, 0.5, 0.25, 0, 0]);
    close(rates({ shape: 'linear', floor: 0.2 }), [0.5, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2]);
    close(rates({ shape: 'linear', warmupSteps: 0, totalSteps: 4 }, 5), [1, 0.75, 0.5, 0.25, 0]);
  });

  it('cosine', () => {
    const [high, low] = [(1 + Math.SQRT1_2) / 2, (1 - Math.SQRT1_2) / 2];
    close(rates({ shape: 'cosine' }), [0.5, 1, 1, high, 0.5, low, 0, 0]);
    close(rates({ shape: 'cosine', peak: 2, floor: 1 }), [1, 2, 2, 1 + high, 1.5, 1 + low, 1, 1]);
    close(rates({ shape: 'cosine', warmupSteps: 0, totalSteps: 3 }, 4), [1, 0.75, 0.25, 0]);
  });

  it('with floor 0 and after the warm-up those of Hugging Face, whose warm-up is one step behind', () => {
    const [warmup, total, peak] = [10, 137, 2e-5];
    // lr_lambda of get_linear_schedule_with_warmup and get_cosine_schedule_with_warmup; update t runs after t - 1 steps.
    const factor = {
      linear: (step: number) => Math.max(0, (total - step) / Math.max(1, total - warmup)),
      cosine: (step: number) =>
        Math.max(0, 0.5 * (1 + Math.cos(Math.PI * ((step - warmup) / Math.max(1, total - warmup))))),
    };
    for (const shape of ['linear', 'cosine'] as const)
      for (let t = 1; t <= total; t++) {
        const want = t <= warmup ? t / warmup : factor[shape](t - 1);
        const got = learningRate({ shape, peak, floor: 0, warmupSteps: warmup, totalSteps: total }, t);
        expect(Math.abs(got / (peak * want) - 1), `${shape}, update ${t}`).toBeLessThan(1e-12);
      }
  });

  it('no update of a run has a rate of 0', () => {
    for (const shape of LR_SCHEDULES) expect(Math.min(...rates({ shape }, 6))).toBeGreaterThan(0);
  });
});

it('a schedule that cannot be followed is named', () => {
  for (const shape of LR_SCHEDULES) expect(scheduleFault(schedule({ shape }))).toBeNull();
  expect(scheduleFault(schedule({ floor: 0.1 }))).toMatch(/constant .* floor of 0\.1/);
  expect(scheduleFault(schedule({ shape: 'cosine', floor: 2 }))).toMatch(/floor .* 2, is above .* 1\./);
  expect(scheduleFault(schedule({ shape: 'linear', warmupSteps: 6 }))).toMatch(/warm-up of 6 .* 6 to fall in/);
  expect(scheduleFault(schedule({ warmupSteps: 60 }))).toBeNull();
});

describe('of a run', () => {
  it('is as long as the run unless it says otherwise', () => {
    expect(runSchedule(RunConfig.parse({}))).toEqual({
      ...{ shape: 'constant', peak: 1.5e-3, floor: 0, warmupSteps: 4, totalSteps: 40 },
    });
    const config = RunConfig.parse({ lrSchedule: 'cosine', steps: 20, minLr: 1e-4, lrScheduleSteps: 100 });
    expect(runSchedule(config)).toMatchObject({ shape: 'cosine', floor: 1e-4, totalSteps: 100 });
    expect(RunConfig.safeParse({ lrSchedule: 'linear', steps: 4 }).error?.issues[0]).toMatchObject({
      path: ['lrSchedule'],
      message: expect.stringMatching(/warm-up of 4 steps/),
    });
    expect(RunConfig.safeParse({ lrSchedule: 'step' }).success).toBe(false);
  });

  it('resumed from its state repeats the rates: the same weights', async () => {
    const model = tinyModel();
    const config = RunConfig.parse({ lrSchedule: 'cosine', steps: 6, warmupSteps: 2, minLr: 1e-4 });
    const state = join(scratchDir(), 'trainer.state');
    const open = () => {
      const adapter = model.createAdapter({ rank: 3, alpha: 6, seed: 1 });
      return { adapter, trainer: model.newTrainer(adapter, { betas: config.betas }) };
    };
    const go = async ({ trainer }: ReturnType<typeof open>, first: number, last: number, saved: unknown = config) => {
      for (let step = first; step <= last; step++)
        await trainer.step(
          policyRows(model),
          { loss: 'dapo' },
          learningRate(runSchedule(RunConfig.parse(saved)), step),
        );
    };
    const whole = open();
    await go(whole, 1, 4);
    await whole.trainer.saveState(state);
    await go(whole, 5, 6);
    const resumed = open();
    await resumed.trainer.loadState(state);
    // As the store gives the configuration back.
    await go(resumed, resumed.trainer.steps + 1, 6, JSON.parse(JSON.stringify(config)));
    expect(resumed.adapter.hash()).toBe(whole.adapter.hash());
    const other = open();
    await other.trainer.loadState(state);
    await go(other, 5, 6, { ...config, lrSchedule: 'linear' });
    expect(other.adapter.hash()).not.toBe(whole.adapter.hash());
  });
});
