/** Ids of imported records: made from the harness's own, so that the same session has the same ids in every reading. */
import type { SourceHarness } from '../../contract/records.js';
import { sha256 } from './hash.js';

export function importedSessionId(harness: SourceHarness, id: string): string {
  return `ses_i${sha256(JSON.stringify([harness, id])).slice(0, 20)}`;
}

/** A time is no part of it: one that a source does not tell may change between readings. */
export function importedRequestId(sessionId: string, key: string): string {
  return `req_i${sha256(JSON.stringify([sessionId, key])).slice(0, 20)}`;
}

/** Sorts calls of one answer in their order. */
export function importedCallId(requestId: string, index: number): string {
  return `call_i${sha256(requestId).slice(0, 20)}_${String(index).padStart(4, '0')}`;
}
