import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Begins the reason of every test that is skipped for want of `../shared`. The test script looks for it. */
export const SHARED_ABSENT = '../shared is not beside the checkout';

/** The folder of golden files, corpora and recorded fixtures beside the checkout, or null where there is none. */
export function sharedDir(): string | null {
  const dir = join(dirname(checkout), 'shared');
  return existsSync(join(dir, 'golden')) ? dir : null;
}

/**
 * A `describe` whose cases read `../shared`. Where the folder exists they are mandatory; where it does not, one skipped
 * test stands for the group and says why.
 */
export function describeShared(name: string, cases: (dir: string) => void): void {
  const dir = sharedDir();
  describe(name, () => {
    if (dir !== null) cases(dir);
    else it('needs ../shared', ({ skip }) => skip(`${SHARED_ABSENT}: ${name}`));
  });
}
