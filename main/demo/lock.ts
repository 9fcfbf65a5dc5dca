/** One demo at a time in a folder: a lock file with the pid of its holder; a dead holder's lock is taken over. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { isRunning } from '../services/leftovers.js';

/** Returns the release. Errors: BUSY. */
export function takeLock(dir: string): () => void {
  const file = join(dir, 'demo.lock');
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const holder = Number(readFileSync(file, 'utf8'));
      if (holder > 0 && holder !== process.pid && isRunning(holder))
        throw new TackroomError(
          'BUSY',
          `A demo is already running here (process ${holder}).`,
          'Wait for it, stop it, or choose another folder with --home.',
        );
      rmSync(file, { force: true });
    }
  }
  throw new TackroomError('BUSY', `The lock ${file} cannot be taken.`);
}
