/** Serving measurements through the scheduler. */
import { randomAdapter, tokens } from './open.mjs';

let seed = 1;

/** Options of one greedy request that runs to its token limit; no two prompts are alike, so no prefix is found in the cache. */
const request = (held, maxTokens, onToken) => ({
  adapterKey: held?.key ?? 'base',
  adapter: held?.adapter ?? null,
  sample: { temperature: 0, seed: 1 },
  maxTokens,
  endIds: new Set(),
  onToken,
});

/**
 * Tokens per second in total of `sequences` requests that decode `steps` tokens after a prompt of `prompt` tokens, counted
 * while all of them decode.
 */
export async function decodeRate(scheduler, { sequences, prompt, steps, held }) {
  const stamps = Array.from({ length: sequences }, () => []);
  await Promise.all(
    stamps.map((own) =>
      scheduler.generate(
        tokens(prompt, seed++),
        request(held, steps + 1, () => {
          own.push(performance.now());
        }),
      ),
    ),
  );
  const begin = Math.max(...stamps.map((own) => own[0]));
  const end = Math.min(...stamps.map((own) => own.at(-1)));
  const counted = stamps.flat().filter((at) => at > begin && at <= end).length;
  if (counted < (sequences * steps) / 2) throw new Error('The requests hardly decoded together.');
  return (1000 * counted) / (end - begin);
}

/** Tokens per second of a prompt of `count` tokens up to its first sampled token. */
export async function prefillRate(scheduler, count, held) {
  const result = await scheduler.generate(tokens(count, seed++), request(held, 1));
  if (result.cachedTokens > 0) throw new Error('The prompt was in the prefix cache.');
  return (1000 * count) / result.firstTokenMs;
}

async function best(repeats, body) {
  let top = 0;
  for (let i = 0; i < repeats; i++) top = Math.max(top, await body());
  return top;
}

/** { decode1, decode8 } */
export async function decode({ scheduler }, { repeats, prompt, steps }) {
  await decodeRate(scheduler, { sequences: 1, prompt, steps: 8 });
  const result = {};
  for (const sequences of [1, 8])
    result[`decode${sequences}`] = await best(repeats, () => decodeRate(scheduler, { sequences, prompt, steps }));
  return result;
}

/** { prefill512, prefill2048 } */
export async function prefill({ scheduler }, { repeats, lengths }) {
  await prefillRate(scheduler, 64);
  const result = {};
  for (const length of lengths) result[`prefill${length}`] = await best(repeats, () => prefillRate(scheduler, length));
  return result;
}

/** { plain, adapted }: decoding of one sequence without and with the adapter, in turn. */
export async function lora({ model, scheduler }, { repeats, prompt, steps, rank, adapterDir }) {
  const adapter = await randomAdapter(model, adapterDir, rank);
  const held = { key: adapter.hash(), adapter };
  let plain = 0;
  let adapted = 0;
  await decodeRate(scheduler, { sequences: 1, prompt, steps: 8, held });
  for (let i = 0; i < repeats; i++) {
    plain = Math.max(plain, await decodeRate(scheduler, { sequences: 1, prompt, steps }));
    adapted = Math.max(adapted, await decodeRate(scheduler, { sequences: 1, prompt, steps, held }));
  }
  return { plain, adapted };
}

/** What the limits are computed from. */
export const info = async ({ model, addon }) => ({ info: model.info, cpu: addon.cpuFeatures() });
