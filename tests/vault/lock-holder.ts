/** Holds a lock until it is killed: `lock-holder FILE`. */
import { withLock } from '../../main/services/process-lock.js';

await withLock(process.argv[2]!, { what: 'holding on', waitMs: 0 }, () => {
  process.stdout.write('held\n');
  return new Promise((resolve) => setTimeout(resolve, 60_000));
});
