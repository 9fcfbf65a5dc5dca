/** What the window's server and the thread that looks at sessions say to each other. */

import type { CleanSummary } from '../../contract/clean.js';
import type { CleanKind, CleanPhase, CleanRecord } from '../../contract/clean-calls.js';
import type { ErrorShape } from '../../contract/errors.js';
import type { ReviewPolicy } from '../sanitize/review/review.js';

export interface RecordsQuery {
  only: 'all' | 'found';
  kind?: number;
  offset: number;
}
export interface Opened {
  summary: CleanSummary;
  kinds: CleanKind[];
  hiddenKinds: number;
}
export interface ThreadCalls {
  /** `fresh`: read the session again. */
  open: { input: { sessionId: string; policy: ReviewPolicy; fresh: boolean }; output: Opened };
  records: { input: RecordsQuery; output: { total: number; records: CleanRecord[]; kinds: CleanKind[] } };
  record: { input: { record: number }; output: { record: CleanRecord; kinds: CleanKind[] } };
  /** The value itself: it goes no further than a sealed decision. */
  value: { input: { kind: number }; output: { family: string; value: string } };
}
export type ThreadCall = keyof ThreadCalls;
export type ToThread = { [C in ThreadCall]: { call: number; name: C; input: ThreadCalls[C]['input'] } }[ThreadCall];
export type FromThread =
  | { call: number; output: ThreadCalls[ThreadCall]['output'] }
  | { call: number; error: ErrorShape }
  | { phase: CleanPhase; done: number; total: number };
