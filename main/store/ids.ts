import { randomFillSync } from 'node:crypto';

/** One call to the system for many ids. */
const pool = new BigUint64Array(256);
let left = 0;

function random64(): bigint {
  if (left === 0) {
    randomFillSync(pool);
    left = pool.length;
  }
  return pool[--left]!;
}

/** Sortable id: `prefix_` + 9 base-36 digits of time + 10 random. */
export function newId(prefix: string, now = Date.now()): string {
  const random = random64().toString(36).padStart(13, '0').slice(-10);
  return `${prefix}_${now.toString(36).padStart(9, '0')}${random}`;
}
