/**
 * Writes each request of a harness as one transaction: session, messages, tools, token ids, tool calls and verdicts
 * together or not at all. `record` returns after the commit, so whoever answers the harness afterwards has acknowledged
 * only what survives a kill.
 */
import { TackroomError } from '../../contract/errors.js';
import type { Purpose, Request, Session, Verdict, VerdictKind } from '../../contract/records.js';
import type { ChatMessage, ToolDefinition } from '../engine/protocol.js';
import { newId } from '../store/ids.js';
import type { Store } from '../store/store.js';
import { deleteSession } from './delete-session.js';
import { type ChainLink, chainOf, MessageStore } from './message-store.js';
import { isAuxiliary, purposeOf } from './purpose.js';
import { type Began, RecordingPolicy } from './recording-policy.js';
import { messageText, SessionFinder, type SessionHint } from './session-finder.js';
import { titleFrom } from './title.js';
import { type RequestTokens, TokenStore } from './token-store.js';
import { sessionTranscript, type Transcript } from './transcript.js';

export interface NewToolCall {
  callId: string;
  name: string;
  arguments: string;
  verdict: VerdictKind;
}

/** `callId` names the tool call of the same answer that the verdict is about. */
export type NewVerdict = Pick<Verdict, 'verdict' | 'stage' | 'rule' | 'severity' | 'reason' | 'ms' | 'served'> & {
  callId: string;
};

/** A finished request. Fields that `Request` has too mean the same. */
export interface NewRequest
  extends Pick<
    Request,
    | 'id'
    | 'createdAt'
    | 'api'
    | 'stream'
    | 'model'
    | 'adapterHash'
    | 'upstream'
    | 'sampling'
    | 'promptTokens'
    | 'completionTokens'
    | 'finish'
    | 'status'
    | 'error'
    | 'firstTokenMs'
    | 'durationMs'
    | 'synthetic'
    | 'responseId'
  > {
  session: SessionHint;
  messages: ChatMessage[];
  tools: ToolDefinition[];
  /** As sampled, before the guard; null when nothing came. */
  answer: ChatMessage | null;
  tokens: RequestTokens;
  toolCalls: NewToolCall[];
  verdicts: NewVerdict[];
  /** The harness's id of the session that this one works for, when it sent one. */
  parentSessionId?: string | null;
  /** What `begin` returned. */
  began?: Began | undefined;
}

export class Recorder {
  readonly messages: MessageStore;
  readonly #tokens: TokenStore;
  readonly #sessions: SessionFinder;
  readonly #policy: RecordingPolicy;

  constructor(private readonly store: Store) {
    this.messages = new MessageStore(store.db);
    this.#tokens = new TokenStore(store.db);
    this.#sessions = new SessionFinder(store, this.messages);
    this.#policy = new RecordingPolicy(store);
  }

  /** To be called when a request of the user's harness begins, for its `began`: what is paused or excluded then is not stored later. */
  begin(messages: readonly ChatMessage[]): Began {
    return this.#policy.begin(messages);
  }

  /**
   * Commits a request. Errors of the disk pass through (`SQLITE_FULL`, …), REFUSED when the user's settings leave it out;
   * nothing of the request is then stored.
   */
  record(entry: NewRequest): Request {
    const [result] = this.recordAll([entry]);
    if (result instanceof Error) throw result;
    if (!result) throw new TackroomError('REFUSED', 'This request is not recorded.', 'See `tackroom recording`.');
    return result;
  }

  /**
   * Commits several requests at once, at most one of each rollout. What cannot be stored is an error in its place and takes nothing else
   * with it; null: the user's settings leave it out. When the commit itself fails nothing is stored and the error passes through.
   */
  recordAll(entries: readonly NewRequest[]): (Request | null | Error)[] {
    const chains = entries.map((entry) => chainOf(entry.messages));
    const one = this.store.db.transaction((at: number) => this.#write(entries[at]!, chains[at]!));
    const write = (): (Request | null | Error)[] =>
      entries.map((_, at) => {
        try {
          // Asked here: one that came before in the same commit may say what session this one belongs to.
          return this.#allows(entries[at]!, chains[at]!) ? one(at) : null;
        } catch (cause) {
          // A full disk may have ended the whole transaction.
          if (!this.store.db.inTransaction) throw cause;
          return cause instanceof Error ? cause : new Error(String(cause));
        }
      });
    // A rollout can be run again; what a person did cannot.
    const replaceable = entries.every((entry) => entry.session.origin === 'rollout');
    const results = replaceable ? this.store.transaction(write) : this.store.durably(write);
    results.forEach((result, at) => {
      if (result !== null && !(result instanceof Error)) this.#committed(entries[at]!, result);
    });
    return results;
  }

  /** Ends the grouping of a rollout's requests. */
  releaseWorker(workerKey: string): void {
    this.#sessions.release(workerKey);
  }

  /** The conversation a request asked with, from its `promptNode`. */
  promptMessages(node: string): ChatMessage[] {
    return this.messages.messages(node);
  }

  /** Exact ids and log-probabilities; undefined for requests without (an upstream server, a synthetic answer). */
  requestTokens(requestId: string): RequestTokens | undefined {
    return this.#tokens.get(requestId);
  }

  /** undefined: no such session. */
  sessionTranscript(sessionId: string): Transcript | undefined {
    return sessionTranscript(this.store, this.messages, sessionId);
  }

  /** Removes a session and every message, tool list and token that nothing else refers to. False: no such session. */
  deleteSession(sessionId: string): boolean {
    const deleted = deleteSession(this.store, sessionId);
    this.#tokens.forget(sessionId);
    return deleted;
  }

  #allows(entry: NewRequest, chain: readonly ChainLink[]): boolean {
    return this.#policy.allows(entry, chain, () => this.#sessions.find(entry.session, chain, entry.createdAt));
  }

  #committed(entry: NewRequest, request: Request): void {
    this.#sessions.bind(entry.session, request.sessionId);
    if (entry.tokens.promptIds.length > 0) this.#tokens.remember(request.sessionId, request.id, entry.tokens);
  }

  #write(entry: NewRequest, chain: readonly ChainLink[]): Request {
    const {
      session: hint,
      messages,
      tools,
      answer,
      tokens,
      toolCalls,
      verdicts,
      parentSessionId,
      began: _,
      ...fields
    } = entry;
    const purpose = purposeOf({
      harness: hint.harness,
      messages,
      hasTools: tools.length > 0,
      stream: entry.stream,
      sampling: entry.sampling,
      hasParent: parentSessionId != null,
    });
    const session = titled(this.#sessions.find(hint, chain, entry.createdAt) ?? newSession(entry), entry, purpose);
    const cwd = session.cwd ?? (hint.origin === 'user' ? this.#policy.directory(messages, chain) : undefined);
    const promptNode = this.messages.putChain(chain);
    const request: Request = {
      ...fields,
      version: 1,
      sessionId: session.id,
      seq: session.requests,
      promptNode,
      answer: answer && this.messages.putAnswer(promptNode, messages.length, answer),
      toolsHash: tools.length > 0 ? this.messages.putTools(tools) : null,
      purpose,
    };
    this.store.session.put({
      ...session,
      ...(cwd !== undefined && { cwd }),
      updatedAt: Math.max(session.updatedAt, entry.createdAt),
      requests: session.requests + 1,
      toolCalls: session.toolCalls + toolCalls.length,
      blocked: session.blocked + toolCalls.filter((call) => call.verdict === 'block').length,
    });
    this.store.request.put(request);
    if (tokens.promptIds.length > 0) this.#tokens.put(session.id, request.id, tokens);
    this.#writeCalls(request, toolCalls, verdicts);
    return request;
  }

  #writeCalls(request: Request, toolCalls: readonly NewToolCall[], verdicts: readonly NewVerdict[]): void {
    const origin = {
      version: 1 as const,
      createdAt: request.createdAt,
      sessionId: request.sessionId,
      requestId: request.id,
    };
    const recordIds = new Map<string, string>();
    for (const call of toolCalls) {
      const { id } = this.store.toolCall.put({ ...origin, id: newId('call'), ...call });
      recordIds.set(call.callId, id);
    }
    for (const { callId, ...verdict } of verdicts)
      this.store.verdict.put({
        ...origin,
        id: newId('verdict'),
        toolCallId: recordIds.get(callId) ?? callId,
        ...verdict,
      });
  }
}

const UNTITLED = 'Untitled session';

/** opencode asks for a title before it asks what the user did: that prompt is nobody's title. */
function titled(session: Session, { session: hint, messages }: NewRequest, purpose: Purpose): Session {
  if (session.title !== UNTITLED || isAuxiliary(purpose)) return session;
  const asked = messages.find((message) => message.role === 'user');
  return { ...session, title: hint.title || titleFrom(asked ? messageText(asked) : '') || UNTITLED };
}

function newSession(entry: NewRequest): Session {
  const hint = entry.session;
  return {
    id: newId('ses'),
    version: 1,
    createdAt: entry.createdAt,
    harness: hint.harness,
    harnessSessionId: hint.harnessSessionId,
    origin: hint.origin,
    rolloutId: hint.rolloutId,
    title: hint.title || UNTITLED,
    model: entry.model,
    updatedAt: entry.createdAt,
    requests: 0,
    toolCalls: 0,
    blocked: 0,
  };
}
