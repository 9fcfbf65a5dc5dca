/** Which sandbox works here, found out by running a real command in each. */
import { TackroomError } from '../../contract/errors.js';
import { BubblewrapDriver, findBubblewrap } from './bubblewrap.js';
import { type CgroupHome, findCgroupHome } from './cgroups.js';
import { findLauncher } from './launcher.js';
import { resolvePython } from './python.js';
import { runInSandbox } from './run.js';
import type { SandboxDriver, SandboxLimits } from './sandbox.js';
import type { SystemParts } from './system-tree.js';
import { UsernsDriver } from './userns.js';

export interface SandboxCheck {
  name: string;
  ok: boolean;
  detail: string;
}

export interface SandboxDetection {
  driver: SandboxDriver | null;
  checks: SandboxCheck[];
}

const HINT =
  'Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap), or allow user ' +
  'namespaces (sysctl user.max_user_namespaces=10000 and, where it exists, kernel.unprivileged_userns_clone=1 or ' +
  'kernel.apparmor_restrict_unprivileged_userns=0).';
const TRIAL_LIMITS: SandboxLimits = {
  memoryBytes: 256 * 1024 * 1024,
  processes: 32,
  cpuSeconds: 5,
  fileBytes: 1024 * 1024,
  wallMs: 10_000,
};

/** Runs `id -u` inside; the answer proves namespaces, file tree and limits at once. */
async function trial(driver: SandboxDriver): Promise<SandboxCheck> {
  try {
    const run = await runInSandbox(driver, {
      name: `trial of ${driver.name}`,
      argv: ['/bin/sh', '-c', 'id -u && test ! -e /etc/shadow'],
      env: {},
      cwd: '/',
      mounts: [],
      limits: TRIAL_LIMITS,
    });
    const ok = run.code === 0 && run.stdout === '1000\n';
    const reason = run.stderr.trim().split('\n')[0] || `exit code ${run.code}`;
    return { name: driver.name, ok, detail: ok ? `works, limits by ${driver.limits}` : reason };
  } catch (error) {
    return { name: driver.name, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

type Maker = () => SandboxDriver | string;

function makers(parts: SystemParts, cgroups: CgroupHome | null): Record<SandboxDriver['name'], Maker> {
  const bwrap = findBubblewrap();
  return {
    bubblewrap: () => (bwrap ? new BubblewrapDriver(bwrap, parts, cgroups) : 'bwrap is not on the PATH'),
    userns: () => new UsernsDriver(parts, cgroups),
  };
}

/** Where TACKROOM_SANDBOX forces a choice: a driver's name, or `none` to act as if there were none. */
function wanted(): SandboxDriver['name'][] {
  const forced = process.env.TACKROOM_SANDBOX;
  if (!forced) return ['bubblewrap', 'userns'];
  if (forced === 'bubblewrap' || forced === 'userns') return [forced];
  if (forced === 'none') return [];
  throw new TackroomError(
    'BAD_ARGUMENT',
    `TACKROOM_SANDBOX is ${JSON.stringify(forced)}.`,
    'Use bubblewrap, userns or none.',
  );
}

export interface DetectOptions {
  /** False: limits by resource limits only, as on a machine without writable control groups. */
  cgroups?: boolean;
}

/** Tries the drivers in order; the first that works is `driver`. Every attempt is in `checks`. */
export async function detectSandbox(options: DetectOptions = {}): Promise<SandboxDetection> {
  const checks: SandboxCheck[] = [];
  if (process.platform !== 'linux')
    return { driver: null, checks: [{ name: 'linux', ok: false, detail: 'sandboxes need Linux' }] };
  const launcher = findLauncher();
  checks.push({
    name: 'launcher',
    ok: launcher !== null,
    detail: launcher ?? 'not built: run node scripts/build-sandbox.mjs',
  });
  if (!launcher) return { driver: null, checks };
  const python = await resolvePython();
  checks.push({
    name: 'python3',
    ok: python !== null,
    detail: python ? `${python.version}, ${python.executable}` : 'not found',
  });
  const make = makers({ launcher, python }, options.cgroups === false ? null : findCgroupHome());
  for (const name of wanted()) {
    const driver = make[name]();
    const check = typeof driver === 'string' ? { name, ok: false, detail: driver } : await trial(driver);
    checks.push(check);
    if (check.ok && typeof driver !== 'string') return { driver, checks };
  }
  return { driver: null, checks };
}

/** The driver to use. Errors: NO_SANDBOX, with what was tried and what to install. */
export async function requireSandbox(options: DetectOptions = {}): Promise<SandboxDriver> {
  const { driver, checks } = await detectSandbox(options);
  if (driver) return driver;
  const tried = checks.filter((check) => !check.ok).map((check) => `${check.name}: ${check.detail}`);
  const why = tried.length > 0 ? ` (${tried.join('; ')})` : '';
  throw new TackroomError('NO_SANDBOX', `No sandbox works on this machine${why}.`, HINT);
}
