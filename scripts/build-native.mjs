/**
 * Builds the native engine into build/native/engine.node with CMake and Ninja.
 *
 * usage: node scripts/build-native.mjs [--force]
 * Uses cmake and ninja from PATH or from build/tools/bin, and does nothing when the addon is newer than its sources.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const output = join(root, 'build', 'native');
const addon = join(output, 'engine.node');

/** Newest modification time below a folder, in ms. */
function newest(dir) {
  let latest = 0;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

function upToDate() {
  if (!existsSync(addon)) return false;
  const sources = Math.max(
    newest(join(root, 'native', 'src')),
    statSync(join(root, 'native', 'CMakeLists.txt')).mtimeMs,
  );
  return statSync(addon).mtimeMs > sources;
}

function run(command, args) {
  const tools = join(root, 'build', 'tools', 'bin');
  const env = { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH}` };
  const result = spawnSync(command, args, { env, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (result.error?.code === 'ENOENT') {
    console.error(`Building the native engine needs ${command}, which was not found on PATH or in build/tools/bin.`);
    process.exit(1);
  }
  if (result.status !== 0) {
    console.error(`${result.stdout}\n${result.stderr}`);
    console.error(`Building the native engine failed (${command}).`);
    process.exit(1);
  }
}

if (!process.argv.includes('--force') && upToDate()) {
  console.log('native engine: up to date');
} else {
  const start = Date.now();
  mkdirSync(output, { recursive: true });
  const jobs = process.env.TACKROOM_BUILD_JOBS ?? '2';
  run('cmake', ['-S', join(root, 'native'), '-B', output, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release']);
  run('cmake', ['--build', output, '-j', jobs]);
  console.log(`native engine: built in ${((Date.now() - start) / 1000).toFixed(1)} s`);
}
