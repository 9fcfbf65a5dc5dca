/** Sandbox, harnesses, disk, ports and the browser of the window. */
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../native/addon.js';
import { CONNECTORS } from '../../harness/connectors.js';
import { findHarness, onPath } from '../../harness/find-harness.js';
import { detectSandbox } from '../../sandbox/detect.js';
import { portFree } from '../../services/gateway-port.js';
import { type Check, reasonOf } from './check.js';

/** A recorded session is small; a run keeps checkpoints. */
const WARN_FREE_BYTES = 5e9;
const MIN_FREE_BYTES = 0.5e9;
const PI_PACKAGE = ['.harness', 'pi', 'node_modules', '@earendil-works', 'pi-coding-agent', 'package.json'];
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

export async function checkSandbox(): Promise<Check> {
  const base = { id: 'sandbox', title: 'Sandbox' };
  try {
    const { driver, checks } = await detectSandbox();
    if (driver)
      return { ...base, status: 'ok', detail: `${driver.name}, limits enforced by ${driver.limits}`, hint: '' };
    const tried = checks.filter((check) => !check.ok).map((check) => `${check.name}: ${check.detail}`);
    return {
      ...base,
      // Elsewhere Tackroom still records, guards and cleans; only rollouts need it.
      status: process.platform === 'linux' ? 'failed' : 'warning',
      detail: tried.join('; ') || 'none is allowed here (TACKROOM_SANDBOX)',
      hint: 'Install bubblewrap (Debian, Ubuntu: sudo apt-get install bubblewrap) or allow user namespaces.',
    };
  } catch (error) {
    return {
      ...base,
      status: 'failed',
      detail: reasonOf(error),
      hint: 'Unset TACKROOM_SANDBOX, or set it to bubblewrap or userns.',
    };
  }
}

/** Version of pi as set-up installed it; null when it is not there. */
function installedPi(): string | null {
  const file = join(packageRoot(), ...PI_PACKAGE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : null;
}

export async function checkHarnesses(): Promise<Check> {
  const found = await Promise.all(CONNECTORS.map((connector) => findHarness(connector)));
  const own = CONNECTORS.flatMap(({ name }, i) => {
    const harness = found[i];
    return harness ? [`${name} ${harness.version ?? 'does not start'}`] : [];
  });
  const pi = installedPi();
  const detail = [pi ? `pi ${pi} for rollouts` : 'no pi for rollouts', `yours: ${own.join(', ') || 'none found'}`];
  return {
    id: 'harnesses',
    title: 'Harnesses',
    status: pi ? 'ok' : 'failed',
    detail: detail.join('; '),
    hint: pi ? '' : 'Install the pinned pi: npm run setup',
  };
}

export function checkDisk(home: string): Check {
  let dir = home;
  while (!existsSync(dir)) dir = dirname(dir);
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  return {
    id: 'disk',
    title: 'Disk',
    status: free < MIN_FREE_BYTES ? 'failed' : free < WARN_FREE_BYTES ? 'warning' : 'ok',
    detail: `${(free / 1e9).toFixed(1)} GB free at ${dir}`,
    hint: free < WARN_FREE_BYTES ? 'Free some space, or move the state with --home or TACKROOM_HOME.' : '',
  };
}

/** `running`: where this home's own gateway was seen to answer; the window beside it is its own too. */
export async function checkPorts(ports: readonly number[], running: number | null = null): Promise<Check> {
  const base = { id: 'ports', title: 'Ports' };
  if (running !== null) return { ...base, status: 'ok', detail: `the gateway runs at ${running}`, hint: '' };
  const free = await Promise.all(ports.map(portFree));
  const taken = ports.filter((_, i) => !free[i]);
  return {
    ...base,
    status: taken.length > 0 ? 'warning' : 'ok',
    detail: taken.length > 0 ? `in use: ${taken.join(', ')}` : `${ports.join(' and ')} are free`,
    hint: taken.length > 0 ? 'Another Tackroom may be running; else choose others with --port and --ui-port.' : '',
  };
}

export function checkBrowser(): Check {
  const found = BROWSERS.map((name) => onPath(name)).find((file) => file !== null);
  return {
    id: 'browser',
    title: 'Browser',
    status: 'ok',
    detail: found ?? 'no Chromium on the PATH; any browser shows the window, its browser tests are skipped',
    hint: '',
  };
}
