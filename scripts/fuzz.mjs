/**
 * Damaged files against the readers: weight files and session lines against the native ones, under the address and
 * undefined-behaviour sanitizers, then tokenizers, GGUF metadata and chat templates, and session files against those in TypeScript.
 *
 * usage: npm run fuzz [-- --count 100000 --seed N --kind folder|gguf|peft|lora|tokenizer|import|gateway|guard|scan|sanitize]
 * 100,000 inputs of each kind unless told otherwise; `tokenizer` stands for five kinds of tokenizer.json, two of GGUF
 * metadata and one of chat templates, `import` for session files of seven kinds, `gateway` for
 * requests and streamed answers of the three APIs, `sanitize` for records through the whole sanitizer, `scan` for lines against the sanitizer's scanner and its two bodies against
 * each other. A failure prints the number of its input, which
 * --first N --count 1 --save DIR writes to files (`scan`: to one). Exit status 1 on a failure.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const known = ['--count', '--seed', '--kind', '--first', '--save'];
const odd = args.find((arg, i) => (i % 2 === 0 ? !known.includes(arg) : arg.startsWith('--')));
if (odd !== undefined || args.length % 2 === 1) {
  console.error(`usage: npm run fuzz [-- ${known.map((name) => `[${name} VALUE]`).join(' ')}]`);
  process.exit(odd === '--help' ? 0 : 2);
}
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);

/** Exit status of a native program. */
function fuzzNative(target) {
  const build = spawnSync(
    process.execPath,
    [join(root, 'scripts', 'build-native.mjs'), '--sanitize', '--target', target],
    { stdio: 'inherit' },
  );
  if (build.status !== 0) return 1;
  const program = join(root, 'build', `native-${target.replaceAll('_', '-')}-asan`, target);
  const counted = args.includes('--count') ? args : ['--count', '100000', ...args];
  return spawnSync(program, counted, { stdio: 'inherit' }).status ?? 1;
}

/** Exit status of a test file that does the same in TypeScript. */
function fuzzTests(file) {
  const env = { ...process.env, TACKROOM_FUZZ_COUNT: option('--count') ?? '100000' };
  for (const name of ['seed', 'first', 'save']) {
    const value = option(`--${name}`);
    if (value !== undefined) env[`TACKROOM_FUZZ_${name.toUpperCase()}`] = value;
  }
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const options = ['run', file, '--project', 'unit', '--disable-console-intercept'];
  return spawnSync(process.execPath, [vitest, ...options], { cwd: root, stdio: 'inherit', env }).status ?? 1;
}

const kind = option('--kind');
const inTypeScript = {
  tokenizer: 'tests/engine/tokenizer/fuzz.test.ts',
  import: 'tests/record/import/fuzz.test.ts',
  gateway: 'tests/proxy/fuzz.test.ts',
  guard: 'tests/guard/fuzz.test.ts',
  scan: 'tests/sanitize/scan/native-scanner.test.ts',
  sanitize: 'tests/sanitize/fuzz.test.ts',
};
let programs = ['fuzz_readers', 'fuzz_scan'];
if (kind === 'scan') programs = ['fuzz_scan'];
else if (kind !== undefined) programs = kind in inTypeScript ? [] : ['fuzz_readers'];
const native = programs.map(fuzzNative).find((status) => status !== 0);
const files = kind === undefined ? Object.values(inTypeScript) : (inTypeScript[kind] ?? []);
const failed = [files]
  .flat()
  .map(fuzzTests)
  .find((status) => status !== 0);
process.exit(native || failed || 0);
