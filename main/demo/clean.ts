/** Removes what the demo made and nothing else: a mistyped --home must not cost a folder of somebody's work. */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from './lock.js';

const MADE = /^(?:seed|short)-\d+$/;

/** Returns what to tell. Errors: BUSY while a demo runs there. */
export function cleanDemo(root: string): string {
  if (!existsSync(root)) return `There is nothing to remove in ${root}.`;
  const release = takeLock(root);
  const made = readdirSync(root).filter((name) => MADE.test(name) && existsSync(join(root, name, 'tackroom.db')));
  for (const name of made) rmSync(join(root, name), { recursive: true, force: true });
  release();
  const left = readdirSync(root);
  if (left.length === 0) {
    rmdirSync(root);
    return `Removed ${root}.`;
  }
  return `Removed ${made.length === 0 ? 'nothing' : made.join(', ')} in ${root}; left what the demo did not make: ${left.slice(0, 5).join(', ')}.`;
}
