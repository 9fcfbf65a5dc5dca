/** Ids of imported records: made from the harness's own, so that the same session has the same ids in every reading. */
import type { SourceHarness } from '../../contract/records.js';
import { sha256 } from './hash.js';

export function importedSessionId(harness: SourceHarness, id: string): string {
  return `ses_i${sha256(JSON.stringify([harness, id])).slice(0, 20)}`;
}

/** Sorts by time, as other ids do, and calls of one answer in their order. */
export function partId(prefix: 'req' | 'call', at: number, owner: string, key: string | number): string {
  const order = typeof key === 'number' ? key.toString(36).padStart(4, '0') : '';
  const hash = sha256(JSON.stringify([owner, key])).slice(0, 16);
  return `${prefix}_${Math.floor(at).toString(36).padStart(9, '0')}${order}${hash}`;
}
