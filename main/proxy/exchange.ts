/** One request for an answer, in whichever API, from the harness's bytes to the acknowledged record: sample, guard, commit, then answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { TackroomError } from '../../contract/errors.js';
import type { Request } from '../../contract/records.js';
import type { Sampling } from '../engine/protocol.js';
import { type Answer, answerMessage, applyVerdicts, NO_TOKENS, type Reasoning, type Served } from './answer.js';
import { askEngine } from './ask-engine.js';
import { askUpstream, type Passing } from './ask-upstream.js';
import type { Caller } from './caller.js';
import type { ChatRequest } from './chat-request.js';
import type { ChatResponse, Identity } from './chat-response.js';
import type { Dialect } from './dialects/dialect.js';
import type { Result } from './failure-breaker.js';
import { failureText, type HttpError, toHttpError } from './http-error.js';
import { DocumentRelay, passedHeaders, StreamRelay } from './relay/relay.js';
import type { CallVerdict, ProxyServices } from './services.js';
import { harnessSessionId, parentSessionId } from './session-header.js';
import { checkInTime } from './settle/check-in-time.js';
import type { Entry, Opened } from './settle/settler.js';

/** A request as it came; the settler holds its conversation under `id`. */
export interface Asked {
  id: string;
  dialect: Dialect;
  query: string;
  /** Rejects with an HttpError for what no harness should send. */
  opening: Promise<Opened>;
  /** null: it only passes through, and nothing here has to read it. */
  chat: ChatRequest | null;
  /** It is on its way to the upstream server. */
  sent: { response: Promise<Dispatcher.ResponseData>; abort(): void } | null;
}

interface Committed {
  /** null: the user's settings leave it out. */
  request: Request | null;
  answer: Answer;
  served: Served;
}

export class Exchange {
  readonly #startedAt = Date.now();
  /** Writes answers of our own; made when it is first needed, because it also keeps the client waiting. */
  #writer: ChatResponse | null = null;
  /** Passes the answer of an upstream server on instead. */
  #relay: StreamRelay | DocumentRelay | null = null;
  readonly #signal: AbortSignal;
  /** Known when anything but passing on is done. */
  #opened: Opened | null = null;
  /** null: as the harness asks. */
  #sampling: Partial<Sampling> | null = null;
  /** Text that came before a failure. */
  #partial = '';

  constructor(
    private readonly services: ProxyServices,
    private readonly caller: Caller,
    private readonly asked: Asked,
    private readonly http: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    const gone = new AbortController();
    // A harness that hangs up after the last byte is done, not gone.
    response.once('close', () => !response.writableFinished && gone.abort());
    this.#signal = caller.signal ? AbortSignal.any([gone.signal, caller.signal]) : gone.signal;
    asked.opening.then(
      (opened) => {
        this.#opened = opened;
      },
      () => asked.sent?.abort(),
    );
  }

  get #response(): ChatResponse {
    if (this.#relay !== null) return this.#relay;
    const { services, asked, response } = this;
    const identity: Identity = {
      id: `chatcmpl-${asked.id}`,
      created: Math.floor(this.#startedAt / 1000),
      model: this.#opened!.model,
    };
    this.#writer ??= asked.dialect.respond(response, identity, this.#opened!, services.deadlines.keepAliveMs);
    return this.#writer;
  }

  /** Never rejects: failures are recorded and answered. */
  async run(): Promise<Result> {
    let done: Committed;
    try {
      done = await this.#commit();
    } catch (error) {
      const unreadable = await this.asked.opening.then(
        () => null,
        (cause: unknown) => ({ cause }),
      );
      if (unreadable !== null) {
        this.#refuse(toHttpError(unreadable.cause));
        return null;
      }
      const cancelled = new TackroomError('CANCELLED', 'The harness left before the answer was whole.');
      const failure = this.#signal.aborted ? cancelled : error;
      await this.#recordFailure(failure);
      this.#response.fail(toHttpError(failure));
      return this.#signal.aborted ? null : false;
    }
    try {
      this.#response.finish(done.answer, done.served);
    } catch (error) {
      this.services.onProblem(`The answer ${this.asked.id} could not be written: ${failureText(error)}`);
      this.#response.fail(toHttpError(error));
    }
    this.#tell(done.request, done.answer, done.served, null);
    return true;
  }

  /** Nobody can say what was asked: there is nothing to record. */
  #refuse(error: HttpError): void {
    if (this.#relay !== null) this.#relay.fail(error);
    else this.asked.dialect.sendError(this.response, error);
  }

  async #commit(): Promise<Committed> {
    // Also what only passes through ends at once when it turns out that it should not have been sent.
    const unreadable = this.asked.opening.then(() => new Promise<never>(() => undefined));
    return Promise.race([this.#answer(), unreadable]);
  }

  async #answer(): Promise<Committed> {
    const { chat } = this.asked;
    const answer = (chat && this.caller.refuse(chat)) ?? (await this.#sample());
    const verdicts = await this.#check(answer);
    const served = applyVerdicts(answer, verdicts, this.services.blockedNotice);
    return { request: await this.services.settler.record(this.#success(answer, verdicts)), answer, served };
  }

  async #sample(): Promise<Answer> {
    let answer: Answer;
    try {
      answer = await this.#ask();
    } catch (error) {
      const instead = error instanceof Error ? this.caller.review(error) : null;
      if (instead === null) throw error;
      return instead;
    }
    return this.caller.review(answer) ?? answer;
  }

  #ask(): Promise<Answer> {
    const { services, caller, asked } = this;
    const { chat } = asked;
    const shown = !caller.holdsText;
    const sink = {
      text: (text: string): void => {
        this.#partial += text;
        if (shown && this.#relay === null) this.#response.text(text);
      },
      reasoning: (part: Reasoning): void => {
        if (shown && this.#relay === null) this.#response.reasoning(part);
      },
    };
    const sampling = chat && (caller.upstream === null || caller.hint.origin !== 'user') ? caller.sampling(chat) : null;
    this.#sampling = sampling;
    if (caller.upstream !== null) {
      const call = { ...asked, upstream: caller.upstream, headers: this.http.headers, sampling };
      const passing = shown && sampling === null ? this.#passing() : null;
      return askUpstream(call, services.deadlines, sink, passing, this.#signal);
    }
    return asked.opening.then(() => {
      // Begins to keep the harness waiting.
      void this.#response;
      return askEngine(services, chat!, sampling!, caller, sink, this.#signal);
    });
  }

  #passing(): Passing {
    const { response, services } = this;
    const { dialect } = this.asked;
    return {
      stream: (headers) => {
        const relay = new StreamRelay(response, dialect, passedHeaders(headers), services.deadlines.keepAliveMs);
        this.#relay = relay;
        return relay;
      },
      document: (headers, body) => {
        const relay = new DocumentRelay(response, dialect, passedHeaders(headers));
        relay.body = body;
        this.#relay = relay;
        return relay;
      },
    };
  }

  async #check(answer: Answer): Promise<CallVerdict[]> {
    if (answer.toolCalls.length === 0) return [];
    const { harness, profile, hint } = this.caller;
    const { settler, deadlines } = this.services;
    const input = { harness, origin: hint.origin, profile, toolCalls: answer.toolCalls };
    return checkInTime(settler, this.asked.id, input, deadlines.guardMs);
  }

  #success(answer: Answer, verdicts: readonly CallVerdict[]): Entry {
    const worst = (id: string): CallVerdict['verdict'] =>
      (['block', 'suspicious'] as const).find((kind) =>
        verdicts.some((one) => one.toolCallId === id && one.verdict === kind),
      ) ?? 'allow';
    return {
      ...this.#common(),
      adapterHash: answer.adapterHash,
      answer: answerMessage(answer),
      tokens: answer.tokens,
      promptTokens: answer.promptTokens,
      completionTokens: answer.completionTokens,
      finish: answer.finish,
      status: 'ok',
      error: null,
      firstTokenMs: answer.firstTokenMs,
      synthetic: answer.synthetic,
      ...(answer.responseId !== undefined && { responseId: answer.responseId }),
      toolCalls: answer.toolCalls.map(({ id, name, arguments: text }) => ({
        callId: id,
        name,
        arguments: text,
        verdict: worst(id),
      })),
      verdicts: verdicts.map(({ toolCallId, verdict, stage, rule, severity, reason, ms, instead }) => ({
        callId: toolCallId,
        verdict,
        stage,
        rule,
        severity,
        reason,
        ms,
        ...(instead && { served: { name: instead.name, arguments: instead.arguments } }),
      })),
    };
  }

  async #recordFailure(failure: unknown): Promise<void> {
    const cancelled = this.#signal.aborted;
    try {
      const request = await this.services.settler.record({
        ...this.#common(),
        adapterHash: this.caller.upstream === null ? this.caller.adapter : null,
        answer: this.#partial === '' ? null : { role: 'assistant', content: this.#partial },
        tokens: NO_TOKENS,
        promptTokens: 0,
        completionTokens: 0,
        finish: 'error',
        status: cancelled ? 'cancelled' : 'error',
        error: failureText(failure),
        firstTokenMs: null,
        synthetic: false,
        toolCalls: [],
        verdicts: [],
      });
      this.#tell(request, null, null, failureText(failure));
    } catch (error) {
      this.services.onProblem(`The failed request ${this.asked.id} could not be recorded: ${failureText(error)}`);
    }
  }

  #common(): Pick<
    Entry,
    | 'id'
    | 'createdAt'
    | 'session'
    | 'parentSessionId'
    | 'api'
    | 'stream'
    | 'model'
    | 'upstream'
    | 'sampling'
    | 'durationMs'
  > {
    const { caller } = this;
    const opened = this.#opened!;
    return {
      id: this.asked.id,
      createdAt: this.#startedAt,
      session: { ...caller.hint, harnessSessionId: harnessSessionId(this.http, opened) },
      parentSessionId: parentSessionId(this.http),
      api: this.asked.dialect.api,
      stream: opened.stream,
      model: opened.model,
      upstream: caller.upstream?.baseUrl ?? null,
      sampling: { ...(this.#sampling ?? opened.sampling) },
      durationMs: Date.now() - this.#startedAt,
    };
  }

  #tell(request: Request | null, answer: Answer | null, served: Served | null, error: string | null): void {
    if (request === null) return;
    this.caller.done({
      requestId: request.id,
      sessionId: request.sessionId,
      promptNode: request.promptNode,
      purpose: request.purpose,
      chat: this.asked.chat,
      answer,
      served,
      error,
    });
    this.services.onRecorded({
      sessionId: request.sessionId,
      requestId: request.id,
      origin: this.caller.hint.origin,
      blocked: served?.blocked ?? 0,
    });
  }
}
