/** Who asks: the user's harness on the loopback port, or a rollout on its socket. Decides what the exchange may do. */
import type { Harness, Purpose } from '../../contract/records.js';
import type { Sampling } from '../engine/protocol.js';
import type { Priority } from '../engine/waiting-queue.js';
import type { SessionHint } from '../record/session-finder.js';
import type { Answer, Served } from './answer.js';
import type { ChatRequest } from './chat-request.js';
import { randomSeed } from './seed.js';
import type { Upstream } from './services.js';

/** Temperature when the harness names none: OpenAI's default, and what training samples at. */
const DEFAULT_TEMPERATURE = 1;

export interface Outcome {
  requestId: string;
  sessionId: string;
  /** null: a request that only passed through. */
  chat: ChatRequest | null;
  promptNode: string;
  purpose: Purpose | undefined;
  /** null: failed or cancelled. */
  answer: Answer | null;
  served: Served | null;
  error: string | null;
}

export interface Caller {
  readonly harness: Harness;
  readonly profile: 'training' | 'desktop';
  readonly hint: Omit<SessionHint, 'harnessSessionId'>;
  readonly adapter: string | null;
  readonly upstream: Upstream | null;
  /** Text is held until the answer is whole: it may still be replaced. */
  readonly holdsText: boolean;
  /** Aborted when the caller's time is over. */
  readonly signal: AbortSignal | null;
  /** The user's requests go before rollouts. */
  readonly priority: Priority;
  /** Longer prompts are not sampled for; null: as long as the model takes. */
  readonly maxPromptTokens: number | null;
  /** Full sampling of the next request; draws its seed. */
  sampling(chat: ChatRequest): Sampling;
  /** An answer by the proxy itself instead of sampling, when a budget is spent. */
  refuse(chat: ChatRequest): Answer | null;
  /** Looks at a sampled answer, or at the failure to sample one; may put another in its place. */
  review(result: Answer | Error): Answer | null;
  /** Told after the commit. */
  done(outcome: Outcome): void;
}

/** A request of the user's own agent. */
export function userCaller(harness: Harness, adapter: string | null, upstream: Upstream | null): Caller {
  return {
    harness,
    profile: 'desktop',
    hint: { harness, origin: 'user', rolloutId: null, title: '', workerKey: null },
    adapter,
    upstream,
    holdsText: false,
    signal: null,
    priority: 'interactive',
    maxPromptTokens: null,
    sampling: ({ sampling }) => ({
      ...sampling,
      temperature: sampling.temperature ?? DEFAULT_TEMPERATURE,
      seed: sampling.seed === undefined ? randomSeed() : Math.abs(sampling.seed),
    }),
    refuse: () => null,
    review: () => null,
    done: () => undefined,
  };
}
