/** Real small models for tests: fetched when needed, verified, never shipped. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../scripts/fetch-model.mjs', import.meta.url));
const UNAVAILABLE = 3;
const LONGEST_FETCH_MS = 280_000;

export type RealModel = 'smollm2-135m' | 'gemma3-270m';

/** The path of a model's GGUF file, or why there is none here. Wrong content is an error, not an excuse. */
export type FetchedModel = { path: string } | { unavailable: string };

/** `offline`: take only what an earlier fetch has left. */
export function realModel(name: RealModel, options: { offline?: boolean } = {}): FetchedModel {
  const args = [script, name, ...(options.offline ? ['--offline'] : [])];
  const result = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: LONGEST_FETCH_MS });
  if (result.status === 0) return { path: result.stdout.trim() };
  const why = result.stderr.trim().split('\n').at(-1) ?? '';
  if (result.status === UNAVAILABLE || result.signal !== null)
    return { unavailable: `the model ${name} is not to be had here (${why || result.signal})` };
  throw new Error(`Fetching ${name} failed: ${why}`);
}

/** Models beyond the default one are fetched only where TACKROOM_TEST_MODELS=1 asks for it. */
export function optionalModel(name: RealModel): FetchedModel {
  const asked = process.env.TACKROOM_TEST_MODELS === '1';
  const found = realModel(name, { offline: !asked });
  return 'path' in found || asked ? found : { unavailable: `${found.unavailable}; TACKROOM_TEST_MODELS=1 fetches it` };
}
