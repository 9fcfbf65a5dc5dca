import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../native/addon.js';

const cache = new Map<string, string>();

/** Text of a file below `resources/`, read once. */
export function resourceText(path: string): string {
  let text = cache.get(path);
  if (text === undefined) {
    text = readFileSync(join(packageRoot(), 'resources', path), 'utf8');
    cache.set(path, text);
  }
  return text;
}
