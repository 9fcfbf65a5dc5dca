/**
 * Builds the native engine into build/native/engine.node and the byte scanner into build/native/scan.node with CMake and Ninja.
 *
 * usage: node scripts/build-native.mjs [--force] [--tests | --sanitize] [--target NAME]
 * Uses cmake and ninja from PATH or from build/tools/bin, and does nothing when the last build is newer than the sources.
 * --tests builds the test and measuring programs of the kernels into build/native-tests instead; --sanitize builds the
 * test program with address and undefined-behaviour checks into build/native-tests-asan. --target NAME builds another test
 * program instead (files_test, fuzz_readers, fuzz_scan), in a folder of its own so that two builds at a time do not meet.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sanitize = process.argv.includes('--sanitize');
const tests = sanitize || process.argv.includes('--tests');
const named =
  tests && process.argv.includes('--target') ? process.argv[process.argv.indexOf('--target') + 1] : undefined;
const folder = named === undefined ? 'native-tests' : `native-${named.replaceAll('_', '-')}`;
const output = join(root, 'build', sanitize ? `${folder}-asan` : tests ? folder : 'native');
const name = tests ? 'native tests' : 'native engine';
const addons = ['engine', 'scan'];
/** Ninja leaves alone what did not change: the time of the build is this file's. */
const stamp = join(output, 'built');
const products = tests ? [stamp] : [stamp, ...addons.map((addon) => join(output, `${addon}.node`))];

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
  if (!products.every((product) => existsSync(product))) return false;
  const sources = Math.max(
    newest(join(root, 'native', 'src')),
    tests ? newest(join(root, 'native', 'tests')) : 0,
    statSync(join(root, 'native', 'CMakeLists.txt')).mtimeMs,
  );
  return statSync(stamp).mtimeMs > sources;
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
  console.log(`${name}: up to date`);
} else {
  const start = Date.now();
  mkdirSync(output, { recursive: true });
  const jobs = process.env.TACKROOM_BUILD_JOBS ?? '2';
  const flags = sanitize
    ? '-O1;-g1;-fno-omit-frame-pointer;-fsanitize=address,undefined;-fno-sanitize-recover=all'
    : '';
  const settings = [
    '-DCMAKE_BUILD_TYPE=Release',
    ...(tests ? [`-DNATIVE_TEST_FLAGS=${flags}`, `-DKERNEL_OPTIMISATION=${sanitize ? '-O1' : '-O3'}`] : []),
  ];
  const targets = named === undefined ? (tests ? ['native_tests'] : addons) : [named];
  run('cmake', ['-S', join(root, 'native'), '-B', output, '-G', 'Ninja', ...settings]);
  run('cmake', ['--build', output, '-j', jobs, '--target', ...targets]);
  writeFileSync(stamp, '');
  console.log(`${name}: built in ${((Date.now() - start) / 1000).toFixed(1)} s`);
}
