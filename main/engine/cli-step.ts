/** `tackroom engine step`: training steps on the samples of one JSON file, a line of metrics each. */
import { TackroomError } from '../../contract/errors.js';
import type { NativeModel } from '../../native/addon.js';
import type { CommandIo } from '../cli/io.js';
import { type EngineOptions, jsonFile, openModel } from './cli-model.js';
import { learningRate } from './learning-rate.js';
import { tokenFiles } from './model-files.js';
import { parseStepBatch, stepSchedule, toSample } from './step-batch.js';

/** Losses and norms are those before each update; `-o` writes what was trained after the last one. */
export async function stepCommand(
  options: EngineOptions & { batch: string; output?: string },
  io: CommandIo,
): Promise<number> {
  const batch = parseStepBatch(await jsonFile(io, options.batch));
  const all = batch.train === 'all';
  if (all && options.adapter)
    throw new TackroomError('BAD_ARGUMENT', '"train":"all" trains the model itself and takes no --adapter.');
  if (!all && !options.adapter)
    throw new TackroomError(
      'BAD_ARGUMENT',
      'A step needs an adapter to train.',
      'Name one with --adapter, or set "train":"all" in the batch.',
    );

  const { model, adapter } = await openModel(options, { trainable: all });
  const trainer = model.newTrainer(all ? null : adapter, {
    optimizer: batch.optimizer,
    betas: batch.betas,
    eps: batch.eps,
    weightDecay: batch.weight_decay,
    maxGradNorm: batch.max_grad_norm,
  });
  const samples = batch.samples.map(toSample);
  const loss = {
    loss: batch.loss,
    clipLow: batch.clip_low,
    clipHigh: batch.clip_high,
    temperature: batch.temperature,
    maxCompletionLength: batch.max_completion_length,
    beta: batch.beta,
    biasCorr: batch.bias_corr,
    isMode: batch.is_mode ?? undefined,
    isMax: batch.is_max,
    delta: batch.delta ?? undefined,
    opsm: batch.opsm ?? undefined,
  };
  const schedule = stepSchedule(batch);
  let done = 0;
  for (let step = 1; step <= batch.steps && !io.signal.aborted; step++) {
    const lr = learningRate(schedule, step);
    const metrics = await trainer.step(samples, loss, lr);
    const line = {
      step,
      loss: metrics.loss,
      grad_norm: metrics.gradNorm,
      clip_low_frac: metrics.clipLowFrac,
      clip_high_frac: metrics.clipHighFrac,
      learning_rate: lr,
    };
    io.stdout.write(`${JSON.stringify(line)}\n`);
    done = step;
  }
  if (done === 0) io.stderr.write('Stopped before the first step: nothing was written.\n');
  else if (options.output && all) await saveWhole(model, options.output, options.model, io);
  else if (options.output) await adapter!.save(options.output, options.model);
  trainer.free();
  model.free();
  return io.signal.aborted ? 130 : 0;
}

/** The model with the tokenizer that belongs to it, so that the folder can be served. */
async function saveWhole(model: NativeModel, output: string, from: string, io: CommandIo): Promise<void> {
  const beside = tokenFiles(from);
  await model.save(output, 'F32', beside);
  if (!beside.some((path) => path.endsWith('tokenizer.json')))
    io.stderr.write(
      `${from} has no tokenizer.json: put that of its original folder into ${output} before serving it.\n`,
    );
}
