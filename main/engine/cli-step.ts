/** `tackroom engine step`: training steps on the samples of one JSON file, a line of metrics each. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { NativeModel, TrainSample } from '../../native/addon.js';
import type { CommandIo } from '../cli/io.js';
import { type EngineOptions, jsonFile, openModel } from './cli-model.js';
import { tokenFiles } from './model-files.js';

/** Files written by Python carry null where a value does not exist. */
const floats = z.array(z.number().nullable()).transform((list) => Float32Array.from(list, (x) => x ?? 0));

const Sample = z.object({
  input_ids: z.array(z.int32()).min(1),
  completion_mask: z.array(z.union([z.literal(0), z.literal(1)])).optional(),
  old_logprobs: floats.optional(),
  advantage: z.number().optional(),
  ref_logprobs: floats.optional(),
  sampling_logprobs: floats.optional(),
  weights: floats.optional(),
});

const Batch = z.object({
  samples: z.array(Sample).min(1),
  loss: z.enum(['grpo', 'bnpo', 'dr_grpo', 'dapo', 'gspo', 'cispo', 'sft']).default('dapo'),
  clip_low: z.number().default(0.2),
  clip_high: z.number().default(0.28),
  temperature: z.number().positive().default(1),
  lr: z.number().min(0),
  betas: z.tuple([z.number(), z.number()]).default([0.9, 0.999]),
  eps: z.number().default(1e-8),
  weight_decay: z.number().default(0),
  max_grad_norm: z.number().default(1),
  steps: z.int().min(1).default(1),
  train: z.enum(['adapter', 'all']).default('adapter'),
  optimizer: z.enum(['adamw', 'muon']).default('adamw'),
  max_completion_length: z.int().min(1).optional(),
  beta: z.number().optional(),
  bias_corr: z.boolean().optional(),
  is_mode: z.enum(['token_truncate', 'token_mask', 'sequence_truncate', 'sequence_mask']).nullish(),
  is_max: z.number().optional(),
  delta: z.number().nullish(),
  opsm: z.number().nullish(),
});

function toSample(sample: z.infer<typeof Sample>): TrainSample {
  return {
    inputIds: Int32Array.from(sample.input_ids),
    completionMask: sample.completion_mask && Uint8Array.from(sample.completion_mask),
    oldLogprobs: sample.old_logprobs,
    advantage: sample.advantage,
    refLogprobs: sample.ref_logprobs,
    samplingLogprobs: sample.sampling_logprobs,
    weights: sample.weights,
  };
}

/** Losses and norms are those before each update; `-o` writes what was trained after the last one. */
export async function stepCommand(
  options: EngineOptions & { batch: string; output?: string },
  io: CommandIo,
): Promise<number> {
  const parsed = Batch.safeParse(await jsonFile(io, options.batch));
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new TackroomError(
      'BAD_ARGUMENT',
      `The batch is wrong at ${issue.path.join('.') || 'its top'}: ${issue.message}.`,
    );
  }
  const batch = parsed.data;
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
  let done = 0;
  for (let step = 1; step <= batch.steps && !io.signal.aborted; step++) {
    const metrics = await trainer.step(samples, loss, batch.lr);
    const line = {
      step,
      loss: metrics.loss,
      grad_norm: metrics.gradNorm,
      clip_low_frac: metrics.clipLowFrac,
      clip_high_frac: metrics.clipHighFrac,
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
