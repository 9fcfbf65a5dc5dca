/** A session as the writer of trajectories takes it and the reader gives it, whoever recorded it. */
import type { VerdictKind } from '../../contract/records.js';
import type { Workspace } from '../../contract/workspace.js';
import type { ToolDefinition } from '../engine/protocol.js';

export interface TrajectoryCall {
  id: string;
  name: string;
  /** JSON text as sampled. */
  arguments: string;
}
export interface TrajectoryResult {
  callId: string | null;
  text: string;
  isError?: boolean;
  exitCode?: number;
}
export interface TrajectoryVerdict {
  callId: string;
  verdict: VerdictKind;
  rule: string;
  reason: string;
}
export interface TrajectoryMetrics {
  /** Cached tokens included. */
  promptTokens: number;
  completionTokens: number;
  cachedTokens?: number;
  costUsd?: number;
  /** Raw local exports only: they decode to the original text. */
  promptIds?: number[];
  completionIds?: number[];
  /** One per completion id, natural logarithm. */
  logprobs?: number[];
}
export interface TrajectoryStep {
  kind: 'system' | 'user' | 'agent';
  text: string;
  /** Unix milliseconds; null when unknown. */
  at: number | null;
  reasoning?: string;
  toolCalls?: TrajectoryCall[];
  /** Of this step's calls; on a system step the content that a compaction left. */
  results?: TrajectoryResult[];
  metrics?: TrajectoryMetrics;
  /** null: the base model. */
  adapterHash?: string | null;
  /** Not sampled but made by the proxy. */
  synthetic?: boolean;
  /** The harness repeated earlier context here. */
  copied?: boolean;
  verdicts?: TrajectoryVerdict[];
  /** The harness replaced its history at this system step. */
  contextManagement?: { type: 'compaction' | 'pruning' | 'injection'; boundary: 'replace' | 'append' | 'truncate' };
}
export interface SessionInput {
  id: string;
  harness: string;
  harnessVersion?: string;
  /** Where it was: a path of the user's, which says who that is. */
  cwd?: string;
  model: string;
  /** Unix milliseconds. */
  createdAt: number;
  tools: ToolDefinition[];
  steps: TrajectoryStep[];
  /** How the working directory looked at the start, where the user let it be captured. */
  workspace?: Workspace;
}
