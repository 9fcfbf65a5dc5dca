import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Removes a tree that untrusted code wrote into: it may have taken the rights of its folders away. */
export function removeTree(dir: string): void {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch {
    unlock(dir);
    rmSync(dir, { recursive: true, force: true });
  }
}

function unlock(dir: string): void {
  chmodSync(dir, 0o700);
  for (const entry of readdirSync(dir, { withFileTypes: true })) if (entry.isDirectory()) unlock(join(dir, entry.name));
}
