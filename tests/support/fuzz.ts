/**
 * Runs a body on many seeded inputs. TACKROOM_FUZZ_COUNT, TACKROOM_FUZZ_SEED and TACKROOM_FUZZ_FIRST (the number of the first input)
 * choose them; `npm run fuzz` sets them.
 */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import { Random } from '../engine/tokenizer/fuzz-random.js';

const SEED = Number(process.env.TACKROOM_FUZZ_SEED ?? process.env.TACKROOM_PROPERTY_SEED ?? 20261201);
const FIRST = Number(process.env.TACKROOM_FUZZ_FIRST ?? 0);
/** Growth of the process while 100,000 inputs run. */
const MEMORY_LIMIT_MB = 512;

export const fuzzCount = (inTests: number): number => Number(process.env.TACKROOM_FUZZ_COUNT ?? inTests);

/**
 * `run` throws for what must not happen, and says whether the input was taken: inputs that are all refused would prove nothing.
 * `limitMs`: processor time for one input.
 */
export async function fuzz(
  kind: string,
  count: number,
  limitMs: number,
  run: (random: Random) => boolean | Promise<boolean>,
): Promise<void> {
  let taken = 0;
  let slowestMs = 0;
  const before = process.memoryUsage().rss;
  for (let input = FIRST; input < FIRST + count; input++) {
    const began = process.cpuUsage();
    try {
      if (await run(new Random(SEED, input))) taken++;
    } catch (error) {
      throw new Error(`${kind}: input ${input} of seed ${SEED} ends in ${String(error)}`, { cause: error });
    }
    const { user, system } = process.cpuUsage(began);
    const ms = (user + system) / 1000;
    if (ms > limitMs) throw new Error(`${kind}: input ${input} of seed ${SEED} takes ${ms.toFixed(0)} ms`);
    slowestMs = Math.max(slowestMs, ms);
    // What the collector found is given back by the event loop, which otherwise never comes round here.
    if (input % 500 === 499) await setImmediate();
  }
  const grownMb = (process.memoryUsage().rss - before) / 1e6;
  if (process.env.TACKROOM_FUZZ_COUNT)
    console.log(
      `${kind}: ${count} inputs, ${taken} taken, slowest ${slowestMs.toFixed(0)} ms, memory ${grownMb >= 0 ? '+' : ''}${grownMb.toFixed(0)} MB`,
    );
  expect(grownMb).toBeLessThan(MEMORY_LIMIT_MB);
  if (count >= 50) expect(taken).toBeGreaterThan(count / 10);
}
