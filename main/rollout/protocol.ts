/** A rollout: one harness run on one task in a sandbox, scored by the task's verifier. */

import type { Split } from '../../contract/records.js';
import type { Sampling } from '../engine/protocol.js';
import type { TraceEntry } from '../proxy/protocol.js';

export interface RolloutJob {
  id: string;
  /** Harbor task folder. */
  taskDir: string;
  taskId: string;
  group: string;
  split: Split;
  adapter: string | null;
  sampling: Sampling;
  maxCalls: number;
  maxPromptTokens: number;
  /** Whole rollout, harness and verifier. */
  deadlineMs: number;
  profile: 'training' | 'desktop';
}

export interface RolloutResult {
  job: RolloutJob;
  /** null: could not be scored (harness or verifier broke); dropped and counted, never 0. */
  verifier: number | null;
  /** verifier + 0.1 * max(0, 1 - calls/15) when correct; 0 when wrong or when a call was blocked; null when unscored. */
  reward: number | null;
  calls: number;
  blocked: number;
  promptTokens: number;
  completionTokens: number;
  seconds: number;
  finish: string;
  error: string | null;
  sessionId: string | null;
  trace: TraceEntry[];
}
