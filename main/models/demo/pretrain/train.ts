import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  NativeAddon,
  NativeModel,
  NativeTrainer,
  OptimizerOptions,
  TrainSample,
} from '../../../../native/addon.js';
import type { BpeTokenizer } from '../bpe.js';
import type { PiPrompt } from '../pi-lines.js';
import { Checkpoints, type Progress } from './checkpoint.js';
import { copyProbes, runProbes } from './copy-probe.js';
import { learningRate, RECIPE } from './recipe.js';
import { SessionData } from './session-data.js';

export interface PretrainOptions {
  addon: NativeAddon;
  tokenizer: BpeTokenizer;
  prompt: PiPrompt;
  /** Folder for checkpoints and the log. */
  outDir: string;
  threads: number;
  log: (line: string) => void;
}

const CHECKPOINT_EVERY_MS = 60_000;
const PROBES = 60;

/** A model with the recipe's random weights and the trainer for all of them. */
export function startModel(addon: NativeAddon, threads: number): { model: NativeModel; trainer: NativeTrainer } {
  const model = addon.initModel({ ...RECIPE.config }, { seed: RECIPE.seed, std: RECIPE.initStd, threads });
  const trainer = model.newTrainer(null, RECIPE.train.optimizer as unknown as OptimizerOptions);
  return { model, trainer };
}

/** Sessions from number `first` until they hold a step's tokens. */
export function nextBatch(data: SessionData, first: number, done: number): { samples: TrainSample[]; tokens: number } {
  const share = done < RECIPE.data.piecesFrom ? 0 : RECIPE.data.pieceShare;
  const samples: TrainSample[] = [];
  let tokens = 0;
  while (tokens < RECIPE.train.tokensPerStep) {
    const sample = data.sample(first + samples.length, share);
    samples.push(sample);
    tokens += sample.inputIds.length;
  }
  return { samples, tokens };
}

/** Trains the demo model from random weights, or goes on from the last checkpoint in `outDir`. */
export async function pretrain(options: PretrainOptions): Promise<{ model: NativeModel; progress: Progress }> {
  const { addon, tokenizer, prompt, outDir, threads, log } = options;
  const { totalTokens } = RECIPE.train;
  const { model, trainer } = startModel(addon, threads);
  const checkpoints = new Checkpoints(outDir);
  const progress = await checkpoints.restore(trainer);
  const data = new SessionData(tokenizer, prompt, String(RECIPE.seed));
  const probes = {
    train: copyProbes(tokenizer, prompt, 'train', PROBES),
    held: copyProbes(tokenizer, prompt, 'held', PROBES),
  };
  const report = async () => {
    const train = await runProbes(model, probes.train);
    const held = await runProbes(model, probes.held);
    const rate = progress.tokens / Math.max(1, progress.seconds);
    const left = Math.round((totalTokens - progress.tokens) / Math.max(1, rate) / 60);
    const line = `step ${progress.step} tokens ${(progress.tokens / 1e6).toFixed(2)}M loss ${progress.smoothLoss.toFixed(4)} copied names train ${percent(train.span)} held-out ${percent(held.span)} commands train ${percent(train.command)} held-out ${percent(held.command)} ${Math.round(rate)} tokens/s, ${left} min left`;
    appendFileSync(join(outDir, 'log.txt'), `${line}\n`);
    log(line);
  };

  log(`${(model.info.parameters / 1e6).toFixed(2)} M parameters, from step ${progress.step}, ${threads} threads.`);
  let batch = nextBatch(data, progress.nextSession, progress.tokens / totalTokens);
  let saved = Date.now();
  while (progress.tokens < totalTokens) {
    const started = performance.now();
    const current = batch;
    const running = trainer.step(
      current.samples,
      { loss: 'sft' },
      learningRate(progress.step, progress.tokens / totalTokens),
    );
    progress.tokens += current.tokens;
    progress.nextSession += current.samples.length;
    batch = nextBatch(data, progress.nextSession, progress.tokens / totalTokens);
    const { loss } = await running;
    progress.step++;
    progress.seconds += (performance.now() - started) / 1000;
    progress.smoothLoss = Number.isNaN(progress.smoothLoss) ? loss : 0.97 * progress.smoothLoss + 0.03 * loss;
    if (Date.now() - saved >= CHECKPOINT_EVERY_MS) {
      await checkpoints.save(trainer, progress);
      await report();
      saved = Date.now();
    }
  }
  await checkpoints.save(trainer, progress);
  await report();
  trainer.free();
  return { model, progress };
}

const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
