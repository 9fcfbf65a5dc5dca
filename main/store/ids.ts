import { randomBytes } from 'node:crypto';

/** Sortable id: `prefix_` + 11 base-36 digits of time + 10 random. */
export function newId(prefix: string, now = Date.now()): string {
  const random = BigInt(`0x${randomBytes(8).toString('hex')}`)
    .toString(36)
    .padStart(13, '0')
    .slice(-10);
  return `${prefix}_${now.toString(36).padStart(9, '0')}${random}`;
}
