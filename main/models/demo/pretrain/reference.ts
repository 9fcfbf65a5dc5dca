import { gunzipSync, gzipSync } from 'node:zlib';
import type { NativeAddon, TrainSample } from '../../../../native/addon.js';
import { learningRate, RECIPE } from './recipe.js';
import type { SessionData } from './session-data.js';
import { nextBatch, startModel } from './train.js';

/** Steps of the recipe that the test repeats. */
export const REFERENCE_STEPS = 5;

/** The rows of the recipe's first steps. */
export function firstBatches(data: SessionData): TrainSample[][] {
  const batches: TrainSample[][] = [];
  let session = 0;
  let tokens = 0;
  while (batches.length < REFERENCE_STEPS) {
    const batch = nextBatch(data, session, tokens / RECIPE.train.totalTokens);
    batches.push(batch.samples);
    session += batch.samples.length;
    tokens += batch.tokens;
  }
  return batches;
}

/** Losses of the recipe's first steps, from its random weights on. */
export async function firstLosses(addon: NativeAddon, batches: TrainSample[][], threads: number): Promise<number[]> {
  const { model, trainer } = startModel(addon, threads);
  const losses: number[] = [];
  let tokens = 0;
  for (const [step, batch] of batches.entries()) {
    const { loss } = await trainer.step(batch, { loss: 'sft' }, learningRate(step, tokens / RECIPE.train.totalTokens));
    losses.push(loss);
    tokens += batch.reduce((sum, sample) => sum + sample.inputIds.length, 0);
  }
  trainer.free();
  model.free();
  return losses;
}

interface PackedRow {
  ids: number[];
  /** One digit per token: the loss weight in tenths, "a" for 1. */
  weights: string;
}

/** Rows as gzipped JSON, so that the test needs neither pi nor its prompt. */
export function packBatches(batches: TrainSample[][]): Buffer {
  const packed = batches.map((batch) =>
    batch.map(
      (sample): PackedRow => ({
        ids: [...sample.inputIds],
        weights: [...sample.weights!].map((w) => Math.round(w * 10).toString(16)).join(''),
      }),
    ),
  );
  return gzipSync(JSON.stringify(packed), { level: 9 });
}

export function unpackBatches(file: Buffer): TrainSample[][] {
  const packed = JSON.parse(gunzipSync(file).toString('utf8')) as PackedRow[][];
  return packed.map((batch) =>
    batch.map(({ ids, weights }) => ({
      inputIds: Int32Array.from(ids),
      weights: Float32Array.from(weights, (digit) => Number.parseInt(digit, 16) / 10),
    })),
  );
}
