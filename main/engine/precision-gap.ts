/**
 * How far serving and training disagree about a model: where serving computes more coarsely (inputs in 8 bits), the same
 * tokens get other log-probabilities. Measured once after start on a fixed text, and shown.
 */
import type { NativeModel } from '../../native/addon.js';

/** Plain prose and code, so that both kinds of text count. */
export const SAMPLE_TEXT = `The build failed because the parser treats a missing field as zero. A missing value is not the same as
zero: the average then comes out too low, and nobody notices until the report is wrong. Read the file again, keep the rows
that have a value, and count the others.

def mean(rows):
    values = [row["value"] for row in rows if row["value"] is not None]
    if not values:
        raise ValueError("no rows with a value")
    return sum(values) / len(values)

Run the tests, then say in one sentence what changed and why.`;
const MOST_TOKENS = 256;

export interface PrecisionGap {
  /** Of the absolute differences of a token's log-probability, nats. */
  mean: number;
  max: number;
  tokens: number;
}

/** null where serving and training compute alike. */
export async function measurePrecisionGap(
  model: NativeModel,
  encode: (text: string) => readonly number[],
): Promise<PrecisionGap | null> {
  if (model.info.servingPrecision === model.info.trainingPrecision) return null;
  const ids = Int32Array.from(encode(SAMPLE_TEXT).slice(0, Math.min(MOST_TOKENS, model.info.contextLength)));
  if (ids.length < 2) return null;
  const [served] = await model.logprobs([ids], null, 1, 'serving');
  const [trained] = await model.logprobs([ids], null, 1, 'training');
  const gaps = Array.from(served!.subarray(1), (x, i) => Math.abs(x - trained![i + 1]!));
  return { mean: gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length, max: Math.max(...gaps), tokens: gaps.length };
}
