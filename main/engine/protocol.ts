/**
 * What the engine process answers over its unix socket (main/services/rpc.ts). It knows messages and tokens, nothing of
 * HTTP. Method names map to `EngineCalls`; a handle to an adapter is its hash (sha256 of its tensors).
 */
import type { AdapterOptions, ComputePath, LossOptions, OptimizerOptions, StepMetrics } from '../../native/addon.js';
import type { Priority } from './waiting-queue.js';

export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content?: string | { type: string; text?: string }[] | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  name?: string;
  /** Of an assistant message; templates that know reasoning show it. */
  reasoning_content?: string;
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
  /** Rollouts wait behind the user's own requests. Default: interactive. */
  priority?: Priority;
  /** Computed as answers are, or as training does. Default: training for rollouts, serving for the user. */
  path?: ComputePath;
  /** A longer prompt is refused with CONTEXT_FULL before anything is computed. */
  maxPromptTokens?: number;
  /** The answer ends before the first of these strings; the string itself is in `completionIds` only. */
  stop?: string[];
  /** `tools`: the arguments of every tool call satisfy the schema of a tool named here. */
  constrain?: 'tools';
  /** With `constrain`: names of the tools whose schemas bind; absent: all. Calls of others are free. */
  strictTools?: string[];
  /** The whole answer is JSON that satisfies this schema. */
  jsonSchema?: unknown;
}
/** Sent as call events while sampling: what is decided since the last one (tool-call markup never in `text`). */
export interface ChatDelta {
  /** '' when the event brings only something else. */
  text: string;
  reasoning?: string;
  /** Whole calls, the same as in the result. */
  toolCalls?: { id: string; name: string; arguments: string }[];
}
export interface ChatResult {
  /** Text outside tool calls. */
  content: string;
  /** What the model thought before it answered, where it says so. */
  reasoning?: string;
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
  model: {
    id: string;
    dir: string;
    architecture: string;
    parameters: number;
    contextLength: number;
    /** Of the weights in memory. */
    bytes: number;
    /** Most common type of the file's matrices. */
    quantisation: string;
    /** Numeric form the products are computed in, for answers and for training. */
    precision: string;
    trainingPrecision: string;
    /** Where these differ: how far the log-probabilities of the same tokens do; null until measured. */
    precisionGap: { mean: number; max: number } | null;
  };
  adapters: string[];
  /** Every adapter in memory with the requests that run on it; a dropped one goes with its last request. */
  adapterUse: { hash: string; running: number; dropped: boolean }[];
  running: number;
  decoding: number;
  /** In their prompt. */
  prefilling: number;
  queued: number;
  /** What those in the queue wait for; null when none do. */
  waitsFor: { what: 'place' | 'memory'; oldestMs: number } | null;
  training: boolean;
  tokensPerSecond: number;
  prefillTokensPerSecond: number;
  /** Keys and values: set aside for running requests, held for later ones, and the limit of both. */
  kv: { limitBytes: number; runningBytes: number; cacheBytes: number; cachedSequences: number; bytesPerToken: number };
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
  /** How many tokens a conversation is as a prompt. */
  count: { params: Pick<ChatParams, 'messages' | 'tools'>; result: { tokens: number } };
  'adapter.load': { params: { dir: string }; result: { hash: string; rank: number; alpha: number } };
  'adapter.drop': { params: { hash: string }; result: null };
  /** One trainer at a time; opening replaces an earlier one. With `state` it resumes. */
  'train.open': {
    params: AdapterOptions & { optimizer: OptimizerOptions; state?: string };
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
