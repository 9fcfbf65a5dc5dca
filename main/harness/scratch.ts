/** Folders of a worker that a rollout may fill and that the next one must find empty. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes everything in `dir`, not `dir` itself (it is mounted). Untrusted code wrote it: folders may have lost their
 * rights, and trees may be deeper than a path can name, which only tools that walk by descriptor can remove.
 */
export function emptyFolder(dir: string): void {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      execFileSync('chmod', ['-R', 'u+rwX', '--', path], { stdio: 'ignore' });
      execFileSync('rm', ['-rf', '--', path], { stdio: 'ignore' });
    }
  }
}

export interface Scratch {
  /** Host folders; what is in them is seen inside at the paths in the comments. */
  /** /work */
  work: string;
  /** /home/agent */
  home: string;
  /** /tmp */
  tmp: string;
  /** /dev/shm */
  shm: string;
}

/** Makes the four folders under `root`, empty. */
export function makeScratch(root: string): Scratch {
  const scratch = {
    work: join(root, 'work'),
    home: join(root, 'home'),
    tmp: join(root, 'tmp'),
    shm: join(root, 'shm'),
  };
  for (const dir of Object.values(scratch)) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    emptyFolder(dir);
  }
  return scratch;
}
