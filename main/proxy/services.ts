/** What the proxy needs from other steps of the loop; the gateway's entry hands it in, tests hand in their own. */
import type { IncomingMessage } from 'node:http';
import type { Harness, Origin, Verdict, VerdictKind } from '../../contract/records.js';
import type { ChatDelta, ChatMessage, ChatParams, ChatResult, ToolDefinition } from '../engine/protocol.js';
import type { MessageStore } from '../record/message-store.js';
import type { Why } from '../services/refusals.js';
import type { Api } from './dialects/dialect.js';
import type { RecordedEvent } from './protocol.js';
import type { Settler } from './settle/settler.js';

export interface SampledCall {
  id: string;
  name: string;
  /** JSON text exactly as sampled. */
  arguments: string;
}

export interface GuardInput {
  harness: Harness;
  /** The user's own sessions are judged as the user set it. */
  origin: Origin;
  profile: 'training' | 'desktop';
  request: { messages: ChatMessage[]; tools?: ToolDefinition[] };
  toolCalls: SampledCall[];
}

export type CallVerdict = Pick<Verdict, 'severity' | 'rule' | 'reason' | 'ms'> & {
  /** Id of the sampled call. */
  toolCallId: string;
  verdict: VerdictKind;
  stage: 1 | 2 | 3;
  /** What the harness gets in place of a blocked call; absent: the notice, as text. */
  instead?: SampledCall;
};

export interface Guard {
  checkResponse(input: GuardInput): CallVerdict[] | Promise<CallVerdict[]>;
  /** The text that stands in for a blocked call. */
  blockedNotice(name: string, reason: string): string;
}

export interface EngineCallOptions {
  signal: AbortSignal;
  timeoutMs: number;
  onDelta(delta: ChatDelta): void;
}

export interface Engine {
  /** Rejects with SERVICE_GONE, DEADLINE, CANCELLED, CONTEXT_FULL, NOT_FOUND (adapter), … */
  chat(params: ChatParams, options: EngineCallOptions): Promise<ChatResult>;
  /** Tokens of a prompt. */
  count(params: Pick<ChatParams, 'messages' | 'tools'>): Promise<number>;
  /** `contextLength` in tokens. */
  model(): Promise<{ id: string; contextLength: number }>;
}

/** Another server that plays the model. */
export interface Upstream {
  /** Up to and with `/v1`. */
  baseUrl: string;
  /** Sent as the server's API wants it. */
  apiKey: string | null;
  /** The only API that the server speaks: requests in another are translated. Absent: it speaks what the harness does. */
  api?: Api;
  /** What the server calls the model; absent: as the harness does. */
  model?: string;
}

export interface Routes {
  /** Adapter hash deployed for a harness, null = base. */
  adapterFor(harness: Harness): string | null;
  /** null: the engine answers. */
  upstreamFor(harness: Harness): Upstream | null;
}

export interface ProxyServices {
  /** Per-install token of the loopback port. */
  token: string;
  settler: Settler;
  /** Of the conversations on record. */
  messages: MessageStore;
  blockedNotice: Guard['blockedNotice'];
  engine: Engine;
  routes: Routes;
  deadlines: Deadlines;
  onRecorded(event: RecordedEvent): void;
  /** Somebody was turned away at the port. */
  onRefused(request: IncomingMessage, why: Why): void;
  /** Something that no client hears of went wrong: one sentence for the log. */
  onProblem(message: string): void;
}

/** Every wait of the proxy, milliseconds. */
export interface Deadlines {
  /** A whole answer of the engine. */
  engineMs: number;
  /** First byte of an upstream server. */
  upstreamHeadersMs: number;
  /** Silence between two chunks of an upstream server. */
  upstreamIdleMs: number;
  /** Without anything to send, a comment keeps the stream alive this often. */
  keepAliveMs: number;
  /** The guard's verdicts on the calls of an answer; afterwards they are blocked. */
  guardMs: number;
  /** Open requests of a rollout that ends. */
  workerDrainMs: number;
}

export const DEFAULT_DEADLINES: Deadlines = {
  // A long prompt on a small machine takes minutes; harnesses give up by themselves (pi after 5 minutes of silence, hermes after 30).
  engineMs: 900_000,
  upstreamHeadersMs: 600_000,
  upstreamIdleMs: 300_000,
  keepAliveMs: 5_000,
  // More than plugins (12 s) and a judge (20 s) may take together.
  guardMs: 40_000,
  workerDrainMs: 5_000,
};
