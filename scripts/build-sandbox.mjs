// Builds build/native/sandbox-launch from native/sandbox with the system's C++ compiler (CXX, else c++, g++, clang++).
// Does nothing when it is newer than its sources, and nothing on systems other than Linux.
// Usage: node scripts/build-sandbox.mjs
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'native', 'sandbox');
const output = join(root, 'build', 'native', 'sandbox-launch');

function findCompiler() {
  const names = [process.env.CXX, 'c++', 'g++', 'clang++'].filter(Boolean);
  return names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
}

function isFresh() {
  if (!existsSync(output)) return false;
  const built = statSync(output).mtimeMs;
  return readdirSync(source).every((name) => statSync(join(source, name)).mtimeMs <= built);
}

function build() {
  const compiler = findCompiler();
  if (!compiler) {
    console.error('NO_COMPILER: no C++ compiler was found.');
    console.error('Install one (Debian: apt-get install g++; Fedora: dnf install gcc-c++), then repeat.');
    return 1;
  }
  mkdirSync(dirname(output), { recursive: true });
  const partial = `${output}.${process.pid}.partial`;
  const files = readdirSync(source)
    .filter((name) => name.endsWith('.cpp'))
    .map((name) => join(source, name));
  const flags = ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Wno-missing-field-initializers', '-pthread'];
  const linking = ['-static-libstdc++', '-static-libgcc', '-o', partial];
  const run = spawnSync(compiler, [...flags, ...files, ...linking], { stdio: 'inherit' });
  if (run.status !== 0) {
    console.error("SANDBOX_BUILD_FAILED: native/sandbox did not compile; the compiler's messages are above.");
    return 1;
  }
  renameSync(partial, output);
  console.log('sandbox-launch is built.');
  return 0;
}

if (process.platform !== 'linux') console.log('sandbox-launch is for Linux only: nothing to build.');
else if (isFresh()) console.log('sandbox-launch is up to date.');
else process.exitCode = build();
