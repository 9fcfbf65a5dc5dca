/** Where Tackroom's own launcher (native/sandbox) lies, outside and inside a sandbox. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../native/addon.js';

/** Path of the launcher inside every sandbox. */
export const LAUNCHER_INSIDE = '/opt/tackroom/sandbox-launch';

/** Host path of `build/native/sandbox-launch`, null when it is not built. */
export function findLauncher(): string | null {
  const root = packageRoot().replace(/app\.asar$/, 'app.asar.unpacked');
  const file = join(root, 'build', 'native', 'sandbox-launch');
  return existsSync(file) ? file : null;
}
