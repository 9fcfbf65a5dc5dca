// Debian packages that the tests can use. Only root can install them; everyone else is told what is left out.
import { spawnSync } from 'node:child_process';
import { execute } from './execute.mjs';
import { WINDOWS } from './paths.mjs';

const onPath = (command) => !WINDOWS && spawnSync('which', [command], { stdio: 'ignore' }).status === 0;
const WITHOUT = {
  chromium: "the window's browser tests are skipped",
  bubblewrap: 'the sandbox uses user namespaces',
};

function missing() {
  const present = {
    chromium: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].some(onPath),
    bubblewrap: onPath('bwrap'),
  };
  return Object.keys(present).filter((name) => !present[name]);
}

/** Why nothing is installed, or null. */
function skipReason() {
  const names = missing();
  if (names.length === 0) return 'up to date';
  const without = names.map((name) => `without ${name} ${WITHOUT[name]}`).join(', ');
  if (!onPath('apt-get')) return `needs apt-get, which this system has not; ${without}`;
  if (process.getuid?.() !== 0) return `needs root (sudo apt-get install ${names.join(' ')}); ${without}`;
  return null;
}

export const systemPackages = {
  name: 'system',
  title: 'Chromium and bubblewrap for the tests',
  after: [],
  deadlineMs: 6 * 60_000,
  optional: true,
  skip: skipReason,
  async run(until) {
    const options = { until, env: { DEBIAN_FRONTEND: 'noninteractive' } };
    await execute('system', 'apt-get', ['-o', 'DPkg::Lock::Timeout=120', 'update', '-q'], options);
    const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '-q', '--no-install-recommends'];
    await execute('system', 'apt-get', [...install, ...missing()], options);
  },
};
