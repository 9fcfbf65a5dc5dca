/** The Python interpreter sandboxes offer as `python3`: the real one, never a version manager's shim (80 ms each). */
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 10_000;
const PROBE =
  "import os,sys;print(os.path.realpath(sys.executable));print(sys.base_prefix);print('%d.%d.%d'%sys.version_info[:3])";
/** Inside a sandbox only these are there without a mount of their own. */
const SYSTEM_PREFIXES = ['/usr', '/usr/local'];

export interface Python {
  executable: string;
  version: string;
  /** Folder that has to be mounted (read-only, at the same path) for it to run; null when it lies under /usr. */
  prefix: string | null;
  /** Folder with `python3`, for PATH. */
  bin: string;
}

async function probe(command: string): Promise<Python | null> {
  try {
    const { stdout } = await run(command, ['-c', PROBE], { timeout: PROBE_TIMEOUT_MS });
    const [executable, base, version] = stdout.trim().split('\n');
    if (!executable || !base || !version) return null;
    const prefix = SYSTEM_PREFIXES.includes(base) ? null : base;
    return { executable, version, prefix, bin: dirname(executable) };
  } catch {
    return null;
  }
}

/** /usr/bin/python3 when it works, else what `python3` on PATH really is; null when there is none. */
export async function resolvePython(): Promise<Python | null> {
  return (await probe('/usr/bin/python3')) ?? (await probe('python3'));
}
