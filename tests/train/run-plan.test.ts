/** `train plan`: what a run will take, from its file and the model's header. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { trainPlanCommand } from '../../main/cli/train.js';
import { RunConfig } from '../../main/train/run-config.js';
import { planRun } from '../../main/train/run-plan.js';
import { addon, scratchDir, tinyModel } from '../native/support.js';

async function saved(): Promise<string> {
  const model = join(scratchDir(), 'model');
  await tinyModel({ vocab_size: 300, hidden_size: 64 }).save(model);
  return model;
}

it('plans with the figures of the model that will be trained', async () => {
  const model = await saved();
  const config = RunConfig.parse({ rank: 8, steps: 10, tasksPerStep: 2, groupSize: 4, checkpointEvery: 4 });
  const options = { model, timed: false, validationTasks: 5, workers: 4 };
  const plan = planRun(config, options);
  // 10 steps of 8, and 5 tasks at the start and after steps 4, 8 and 10.
  expect(plan.rollouts).toBe(80 + 4 * 5);
  expect(plan.seconds).toBeNull();
  const loaded = await addon.loadModel(model);
  // The context of 512 is shorter than prompt and answer may be.
  expect(plan.training).toEqual(loaded.planTraining({ rank: 8, longest: 512, tokens: 8 * 512 }));
  const more = planRun({ ...config, rank: 16 }, { ...options, workers: 5 });
  expect(more.training.memory.optimizer).toBe(2 * plan.training.memory.optimizer);
  expect(more.memoryBytes - plan.memoryBytes).toBe(more.training.bytes - plan.training.bytes + 230 * 2 ** 20);
  expect(planRun(config, { ...options, timed: true }).seconds).toBeGreaterThan(0);
  expect(() => planRun({ ...config, rank: 65 }, options)).toThrow(/rank of an adapter must be between 1 and 64/);
  expect(() => planRun({ ...config, experts: 'each' }, options)).toThrow(/experts/);
});

it('prints them', async () => {
  const model = await saved();
  const dir = scratchDir();
  for (const name of ['train/a', 'train/b', 'validation/c']) {
    mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, name, 'task.toml'), '');
  }
  const file = join(dir, 'run.yaml');
  writeFileSync(file, `tasks: ${join(dir, 'train')}\nvalidation: ${join(dir, 'validation')}\nsteps: 8\n`);
  const print = async (json: boolean): Promise<string> => {
    const stdout = new PassThrough();
    const io = { stdin: Readable.from([]), stdout, stderr: new PassThrough(), interactive: false };
    await trainPlanCommand({ file, model, json }, { ...io, signal: new AbortController().signal } as never);
    return String(stdout.read());
  };
  const { weights } = addon.planTraining(model, { rank: 16 });
  expect(JSON.parse(await print(true))).toMatchObject({
    ...{ tasks: 2, validation: 1, steps: 8, rollouts: 8 * 80 + 2, seconds: null, cost: 0 },
    memory: { weights, adapter: expect.any(Number), trainer: expect.any(Number), contexts: expect.any(Number) },
  });
  expect(await print(false)).toMatch(
    /^642 rollouts on 2 tasks in 8 steps, time unknown .*\nMemory: [\d.]+ [MG]iB \(weights /,
  );
});
