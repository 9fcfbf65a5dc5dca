// Steps that install the real opencode and hermes, for the tests that run them. Tackroom itself needs neither.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './execute.mjs';
import { ROOT } from './paths.mjs';
import { firstLine } from './prerequisites.mjs';
import { stampedStep } from './stamped-step.mjs';

const SKIPS = 'its tests are skipped';
const SOURCE = join('resources', 'harness');

const otherMachine = () =>
  process.platform === 'linux' && process.arch === 'x64' ? null : `pinned for Linux on x86-64 alone; ${SKIPS}`;

const opencodeDir = join('.harness', 'opencode');

export const opencode = stampedStep({
  name: 'opencode',
  title: 'opencode, for the tests',
  after: [],
  deadlineMs: 5 * 60_000,
  optional: true,
  inputs: [join(SOURCE, 'opencode')],
  outputs: [join(opencodeDir, 'node_modules', 'opencode-linux-x64', 'bin', 'opencode')],
  absent: otherMachine,
  async run(until) {
    mkdirSync(join(ROOT, opencodeDir), { recursive: true });
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(join(ROOT, SOURCE, 'opencode', file), join(ROOT, opencodeDir, file));
    const args = ['ci', '--prefix', opencodeDir, '--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error'];
    await execute('opencode', 'npm', args, { until });
  },
});

const hermesDir = join('.harness', 'hermes');
const PYTHONS = ['python3', 'python3.11', 'python3.12', 'python3.13'];

/** The first Python that hermes takes: 3.11 to 3.13. */
function python() {
  const fits = (command) =>
    /^3\.1[123]$/.test(firstLine(command, ['-c', "import sys; print('%d.%d' % sys.version_info[:2])"]) ?? '');
  return PYTHONS.find(fits) ?? null;
}

export const hermes = stampedStep({
  name: 'hermes',
  title: 'hermes, for the tests',
  after: [],
  deadlineMs: 5 * 60_000,
  optional: true,
  inputs: [join(SOURCE, 'hermes')],
  outputs: [join(hermesDir, 'bin', 'hermes')],
  absent: () => otherMachine() ?? (python() === null ? `needs Python 3.11 to 3.13; ${SKIPS}` : null),
  async run(until) {
    await execute('hermes', python(), ['-m', 'venv', '--clear', hermesDir], { until });
    const pinned = ['--no-deps', '--only-binary', ':all:', '-r', join(SOURCE, 'hermes', 'requirements.txt')];
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', '--disable-pip-version-check', ...pinned];
    await execute('hermes', join(ROOT, hermesDir, 'bin', 'python'), pip, { until });
  },
});
