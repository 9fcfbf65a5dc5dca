// What the machine must bring before anything is installed, and the command that installs each missing thing.
import { spawnSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, WINDOWS } from './paths.mjs';

const NODE_MAJOR = 20;
const PYTHON_MINOR = 9;
/** Measured: node_modules 0.9 GB, pi with its Node.js 0.8 GB, opencode and hermes 0.4 GB, build products 0.2 GB, npm's cache 0.4 GB. */
const FIRST_RUN_BYTES = 2.9e9;
const LATER_RUN_BYTES = 0.3e9;

/** The first line a command prints, or null when it is missing or fails. */
export function firstLine(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000, shell: WINDOWS });
  if (result.error || result.status !== 0) return null;
  return `${result.stdout}${result.stderr}`.trim().split('\n')[0];
}

const install = (debian, fedora, macos) => `Debian/Ubuntu: ${debian}; Fedora: ${fedora}; macOS: ${macos}`;

function checkNode() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR) return null;
  return {
    missing: `Node.js ${NODE_MAJOR} or newer (this is ${process.versions.node})`,
    hint: 'Install it from https://nodejs.org or with your version manager, for example: nvm install 20',
  };
}

function checkCommand(missing, commands, hint) {
  return commands.some((command) => firstLine(command, ['--version']) !== null) ? null : { missing, hint };
}

function checkPython() {
  const hint = install('sudo apt-get install python3 python3-venv', 'sudo dnf install python3', 'brew install python');
  const version = firstLine('python3', ['-c', "import sys; print('%d.%d' % sys.version_info[:2])"]);
  const [major, minor] = (version ?? '').split('.').map(Number);
  if (major === 3 && minor >= PYTHON_MINOR) return null;
  return { missing: `python3 3.${PYTHON_MINOR} or newer${version ? ` (this is ${version})` : ''}`, hint };
}

function checkDisk() {
  const first = !existsSync(join(ROOT, 'node_modules')) || !existsSync(join(ROOT, '.harness'));
  const needed = first ? FIRST_RUN_BYTES : LATER_RUN_BYTES;
  const { bavail, bsize } = statfsSync(ROOT);
  const free = bavail * bsize;
  if (free >= needed) return null;
  const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
  return {
    missing: `disk space: ${gigabytes(needed)} are needed in ${ROOT}, ${gigabytes(free)} are free`,
    hint: 'Free some space, or move the checkout to a larger disk.',
  };
}

/** Everything that is missing, as `{missing, hint}`; empty when the set-up can begin. */
export function missingPrerequisites() {
  const compiler = install('sudo apt-get install g++ make', 'sudo dnf install gcc-c++ make', 'xcode-select --install');
  return [
    checkNode(),
    checkCommand('npm', ['npm'], 'It comes with Node.js: https://nodejs.org; Debian/Ubuntu: sudo apt-get install npm'),
    checkCommand('git', ['git'], install('sudo apt-get install git', 'sudo dnf install git', 'xcode-select --install')),
    checkCommand('a C++ compiler', [process.env.CXX ?? 'c++', 'g++', 'clang++'], compiler),
    WINDOWS ? null : checkCommand('make', ['make'], compiler),
    checkPython(),
    checkDisk(),
  ].filter((problem) => problem !== null);
}
