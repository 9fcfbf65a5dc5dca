// Content stamps: a step is current when its inputs hash to what its last good run saw and its outputs exist.
// Contents and not times, so that a fresh clone, a restored cache or `touch` never decides anything.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { ROOT, STAMPS } from './paths.mjs';

/** Files under `path` (or the file itself), sorted; hidden ones and node_modules are left out. */
function filesUnder(path, keep) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  const found = [];
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const child = join(path, entry.name);
    if (entry.isDirectory()) found.push(...filesUnder(child, keep));
    else if (entry.isFile() && keep(entry.name)) found.push(child);
  }
  return found.sort();
}

/**
 * sha256 over the sorted `path\0sha256(content)` of the given files and folders (relative to the checkout), after the
 * given facts (versions, platform).
 */
export function inputsHash(paths, { facts = [], keep = () => true } = {}) {
  const hash = createHash('sha256');
  hash.update([process.platform, process.arch, process.versions.modules, ...facts].join('\n'));
  for (const path of paths) {
    for (const file of filesUnder(join(ROOT, path), keep)) {
      const content = createHash('sha256').update(readFileSync(file)).digest('hex');
      hash.update(`\n${relative(ROOT, file).split(sep).join('/')}\0${content}`);
    }
  }
  return hash.digest('hex');
}

const stampFile = (step) => join(STAMPS, step);

/** The stamp of the last good run, or null. */
export function readStamp(step) {
  return existsSync(stampFile(step)) ? readFileSync(stampFile(step), 'utf8').trim() : null;
}

export function writeStamp(step, stamp) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(stampFile(step), `${stamp}\n`);
}

export function clearStamp(step) {
  rmSync(stampFile(step), { force: true });
}
