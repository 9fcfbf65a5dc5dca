/**
 * What the gateway process (proxy + guard + record) answers over its unix socket (main/services/rpc.ts), and what it
 * broadcasts. Main opens one *worker socket* per rollout worker: whoever talks to that socket is that worker, so no
 * header has to be trusted.
 */
import type { Harness, Origin } from '../../contract/records.js';
import type { Sampling } from '../engine/protocol.js';

/** Applies to every request on a worker socket from `worker.begin` to `worker.end`. */
export interface WorkerSession {
  worker: string;
  harness: Harness;
  origin: Origin;
  rolloutId: string | null;
  title: string;
  /** Adapter hash, null = base. Overrides the harness's deployment. */
  adapter: string | null;
  /** Overrides what the harness asks for. Each request of the session draws its own seed from `seed`. */
  sampling: Sampling;
  /** After this many tool results the proxy answers "I stop here." by itself (synthetic). */
  maxCalls: number;
  /** Longer prompts get the same synthetic answer. */
  maxPromptTokens: number;
  profile: 'training' | 'desktop';
  /** Base URL of another OpenAI-compatible server that plays the model instead of the engine. */
  upstream: string | null;
}

/** One sampled answer, exactly as served: the unit of training. */
export interface TraceEntry {
  requestId: string;
  promptIds: number[];
  completionIds: number[];
  logprobs: number[];
  adapterHash: string | null;
  finish: string;
  /** Made by the proxy, or by an upstream that reports no ids: never trained on. */
  synthetic: boolean;
  blocked: number;
}

export interface WorkerSummary {
  sessionIds: string[];
  requests: number;
  toolCalls: number;
  blocked: number;
  promptTokens: number;
  completionTokens: number;
  /** `stop`, `calls` (budget spent), `context`, `length`, `error`. */
  finish: string;
  error: string | null;
  trace: TraceEntry[];
}

export interface GatewayStatus {
  port: number;
  pid: number;
  sessions: number;
  requests: number;
  workers: string[];
}

export interface GatewayCalls {
  status: { params: Record<string, never>; result: GatewayStatus };
  /** Re-reads deployments from the store after a swap. */
  'routes.reload': { params: Record<string, never>; result: null };
  /** Opens the vault of this home in the gateway too; `key` as `Vault.handOver` gives it, base64. */
  'vault.unlock': { params: { key: string }; result: null };
  /** Listens on the unix socket `path` (made with mode 0666 inside a private folder). */
  'worker.open': { params: { worker: string; path: string }; result: null };
  'worker.begin': { params: WorkerSession; result: null };
  /** Waits for open requests of the session (at most 5 s), then sums up. */
  'worker.end': { params: { worker: string }; result: WorkerSummary };
  'worker.close': { params: { worker: string }; result: null };
}
export type GatewayMethod = keyof GatewayCalls;

/** Broadcast topic `recorded`: after each committed request. */
export interface RecordedEvent {
  sessionId: string;
  requestId: string;
  origin: Origin;
  blocked: number;
}
