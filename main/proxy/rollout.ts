/** One rollout on a worker socket: its overrides, its budgets, and the trace it leaves. */
import { TackroomError } from '../../contract/errors.js';
import type { Sampling } from '../engine/protocol.js';
import { mainTurns, type Turn } from '../record/main-turns.js';
import type { MessageStore } from '../record/message-store.js';
import { type Answer, textAnswer } from './answer.js';
import type { Caller, Outcome } from './caller.js';
import type { ChatRequest } from './chat-request.js';
import { HttpError } from './http-error.js';
import type { TraceEntry, WorkerSession, WorkerSummary } from './protocol.js';
import { requestSeed } from './seed.js';

/** What the harness reads when a budget is spent; it ends its turn on it. */
export const STOP_TEXT = 'I stop here.';

export class Rollout implements Caller {
  readonly harness;
  readonly profile;
  readonly hint;
  readonly adapter;
  readonly upstream;
  readonly holdsText = true;
  readonly priority = 'rollout';
  readonly maxPromptTokens;
  readonly #abort = new AbortController();
  readonly signal = this.#abort.signal;
  readonly #counts = { main: 0, aux: 0 };
  readonly #results = new Set<string>();
  readonly #outcomes: Outcome[] = [];
  readonly #trace: { entry: TraceEntry; turn: Turn }[] = [];
  #spent: 'calls' | 'context' | null = null;

  constructor(
    private readonly session: WorkerSession,
    readonly key: string,
  ) {
    this.harness = session.harness;
    this.profile = session.profile;
    this.adapter = session.adapter;
    this.maxPromptTokens = session.maxPromptTokens;
    this.upstream = session.upstream === null ? null : { baseUrl: session.upstream, apiKey: null };
    this.hint = {
      harness: session.harness,
      origin: session.origin,
      rolloutId: session.rolloutId,
      title: session.title,
      workerKey: key,
    };
  }

  sampling(chat: ChatRequest): Sampling {
    const lane = chat.tools.length > 0 ? 'main' : 'aux';
    const seed = requestSeed(this.session.sampling.seed ?? 0, lane, this.#counts[lane]++);
    return {
      ...chat.sampling,
      ...defined(this.session.sampling),
      temperature: this.session.sampling.temperature,
      seed,
    };
  }

  /** Tool results are counted by their ids too, so that a harness that shortens its history gains nothing. */
  refuse(chat: ChatRequest): Answer | null {
    const results = chat.messages.filter((message) => message.role === 'tool');
    for (const { tool_call_id: id } of results) if (id !== undefined) this.#results.add(id);
    if (Math.max(results.length, this.#results.size) < this.session.maxCalls) return null;
    return this.#stop('calls');
  }

  review(result: Answer | Error): Answer | null {
    if (result instanceof Error)
      return result instanceof TackroomError && result.code === 'CONTEXT_FULL' ? this.#stop('context') : null;
    // The engine refuses such a prompt by itself; another server may not.
    return result.promptTokens > this.session.maxPromptTokens ? this.#stop('context') : null;
  }

  done(outcome: Outcome): void {
    this.#outcomes.push(outcome);
    const { answer, served, chat, promptNode, purpose, requestId } = outcome;
    if (answer === null || served === null) return;
    this.#trace.push({
      entry: {
        requestId,
        ...answer.tokens,
        adapterHash: answer.adapterHash,
        finish: answer.finish,
        // What came without token ids, from another server, cannot be trained on either.
        synthetic: answer.synthetic || answer.tokens.completionIds.length === 0,
        blocked: served.blocked,
      },
      turn: {
        id: requestId,
        toolsHash: (chat?.tools.length ?? 0) > 0 ? 'tools' : null,
        promptNode,
        ...(purpose && { purpose }),
      },
    });
  }

  /** Ends what still runs; it is recorded as cancelled. */
  abort(): void {
    this.#abort.abort();
  }

  summary(messages: MessageStore): WorkerSummary {
    const answers = this.#outcomes.flatMap(({ answer }) => answer ?? []);
    const sum = (of: (answer: Answer) => number): number => answers.reduce((total, answer) => total + of(answer), 0);
    return {
      sessionIds: [...new Set(this.#outcomes.map(({ sessionId }) => sessionId))],
      requests: this.#outcomes.length,
      toolCalls: sum((answer) => answer.toolCalls.length),
      blocked: this.#trace.reduce((total, { entry }) => total + entry.blocked, 0),
      promptTokens: sum((answer) => answer.promptTokens),
      completionTokens: sum((answer) => answer.completionTokens),
      ...this.#ending(),
      trace: this.#markAuxiliary(messages),
    };
  }

  /** Titles and summaries are not turns of the policy: they count as synthetic, so nothing trains on them. */
  #markAuxiliary(messages: MessageStore): TraceEntry[] {
    const main = mainTurns(
      this.#trace.map(({ turn }) => turn),
      (node) => messages.path(node),
    );
    return this.#trace.map(({ entry }) => (main.has(entry.requestId) ? entry : { ...entry, synthetic: true }));
  }

  #ending(): { finish: string; error: string | null } {
    const last = this.#outcomes.at(-1);
    if (!last) return { finish: 'error', error: 'The harness sent no request.' };
    if (last.served === null) return { finish: 'error', error: last.error };
    if (this.#spent !== null) return { finish: this.#spent, error: null };
    if (last.served.finish === 'tool_calls')
      return { finish: 'error', error: 'The harness left without reporting the result of a tool call.' };
    if (last.served.finish === 'content_filter')
      return { finish: 'error', error: 'The upstream server withheld the answer.' };
    return { finish: last.served.finish, error: null };
  }

  #stop(reason: 'calls' | 'context'): Answer {
    this.#spent = reason;
    return textAnswer(STOP_TEXT);
  }
}

/** Before `worker.begin` and after `worker.end` a socket answers nobody. */
export function noRollout(): HttpError {
  return new HttpError(403, 'REFUSED', 'No rollout is open on this socket.');
}

function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Partial<T>;
}
