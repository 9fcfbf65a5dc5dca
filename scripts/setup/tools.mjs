// CMake and Ninja: those on the PATH, else pinned ones from PyPI inside build/tools.
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './execute.mjs';
import { TOOLS, WINDOWS } from './paths.mjs';
import { firstLine } from './prerequisites.mjs';

const PINNED = ['cmake==3.31.6', 'ninja==1.11.1.4'];
const BIN = join(TOOLS, 'bin');
const works = (command) => firstLine(command, ['--version']) !== null;

function found() {
  if (existsSync(join(BIN, 'cmake')) && works(join(BIN, 'cmake')) && works(join(BIN, 'ninja'))) return 'up to date';
  return works('cmake') && works('ninja') ? 'cmake and ninja are on the PATH' : null;
}

async function withVenv(until) {
  await execute('tools', 'python3', ['-m', 'venv', TOOLS], { until });
  const python = join(TOOLS, WINDOWS ? 'Scripts' : 'bin', 'python');
  await execute('tools', python, ['-m', 'pip', 'install', '--quiet', ...PINNED], { until });
}

/** For a python3 that cannot make virtual environments (Debian without python3-venv). */
async function withTarget(until) {
  const target = join(TOOLS, 'packages');
  await execute('tools', 'python3', ['-m', 'pip', 'install', '--quiet', '--target', target, ...PINNED], { until });
  mkdirSync(BIN, { recursive: true });
  for (const [name, path] of [
    ['cmake', join(target, 'cmake', 'data', 'bin', 'cmake')],
    ['ninja', join(target, 'bin', 'ninja')],
    ['ninja', join(target, 'ninja', 'data', 'bin', 'ninja')],
  ])
    if (existsSync(path) && !existsSync(join(BIN, name))) symlinkSync(path, join(BIN, name));
}

export const tools = {
  name: 'tools',
  title: 'CMake and Ninja',
  after: [],
  deadlineMs: 5 * 60_000,
  skip: found,
  async run(until) {
    rmSync(TOOLS, { recursive: true, force: true });
    try {
      await withVenv(until);
    } catch {
      rmSync(TOOLS, { recursive: true, force: true });
      await withTarget(until).catch((cause) => {
        const hint = 'install them yourself, on Debian/Ubuntu: sudo apt-get install cmake ninja-build';
        throw new Error(`${cause.message} pip could not install CMake and Ninja; ${hint}.`, { cause });
      });
    }
    if (found() === null) throw new Error('CMake and Ninja were installed from PyPI but do not run here.');
  },
};
