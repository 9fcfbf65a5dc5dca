/**
 * What the engine process answers over its unix socket (main/services/rpc.ts). It knows messages and tokens, nothing of
 * HTTP. Method names map to `EngineCalls`; a handle to an adapter is its hash (sha256 of its tensors).
 */
import type { LossOptions, OptimizerOptions, StepMetrics } from '../../native/addon.js';

export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content?: string | { type: string; text?: string }[] | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  name?: string;
}
export interface ToolDefinition {
  type: 'function';
  function: { name: string; description?: string; parameters?: unknown };
}
export interface Sampling {
  temperature: number;
  topP?: number;
  topK?: number;
  minP?: number;
  repetitionPenalty?: number;
  seed?: number;
  maxTokens?: number;
}

export interface ChatParams {
  messages: ChatMessage[];
  tools?: ToolDefinition[];
  sampling: Sampling;
  /** Adapter hash; null = base. Unknown: NOT_FOUND. */
  adapter: string | null;
}
/** Sent as call events while sampling: raw text as it is decided (tool-call markup never in `text`). */
export interface ChatDelta {
  text: string;
}
export interface ChatResult {
  /** Text outside tool calls. */
  content: string;
  toolCalls: { id: string; name: string; arguments: string }[];
  finish: 'stop' | 'tool_calls' | 'length';
  promptIds: number[];
  completionIds: number[];
  logprobs: number[];
  adapterHash: string | null;
  /** Prompt tokens found in the prefix cache. */
  cachedTokens: number;
  firstTokenMs: number;
  durationMs: number;
}

export interface EngineStatus {
  model: { id: string; dir: string; architecture: string; parameters: number; contextLength: number; bytes: number };
  adapters: string[];
  running: number;
  queued: number;
  training: boolean;
  tokensPerSecond: number;
  kernels: string;
  threads: number;
  pid: number;
  rssBytes: number;
}

/** A training row as it crosses the socket. */
export interface WireSample {
  inputIds: number[];
  completionMask?: number[];
  oldLogprobs?: number[];
  advantage?: number;
}

export interface EngineCalls {
  status: { params: Record<string, never>; result: EngineStatus };
  chat: { params: ChatParams; result: ChatResult };
  'adapter.load': { params: { dir: string }; result: { hash: string; rank: number; alpha: number } };
  'adapter.drop': { params: { hash: string }; result: null };
  /** One trainer at a time; opening replaces an earlier one. With `state` it resumes. */
  'train.open': {
    params: { rank: number; alpha: number; seed: number; optimizer: OptimizerOptions; state?: string };
    result: { hash: string; steps: number };
  };
  /** One optimizer update. The new weights are served under the returned hash at once; older hashes stay until dropped. */
  'train.step': {
    params: { samples: WireSample[]; loss: LossOptions; lr: number };
    result: StepMetrics & { hash: string };
  };
  /** PEFT folder + `trainer.state`, written atomically. */
  'train.save': { params: { dir: string }; result: { hash: string; bytes: number } };
  'train.close': { params: Record<string, never>; result: null };
}
export type EngineMethod = keyof EngineCalls;
