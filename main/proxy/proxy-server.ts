/** HTTP in front of exchanges: who asks is decided by the address that was reached. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../store/ids.js';
import { checkToken, NotAdmitted, type Route, routeOf } from './access.js';
import { sendAsItComes } from './ask-upstream.js';
import { parseJsonBody } from './body.js';
import { type Caller, userCaller } from './caller.js';
import { checkForEngine } from './chat-request.js';
import { sendJson } from './chat-response.js';
import { conversationKey } from './conversation-key.js';
import { DIALECTS, type Dialect } from './dialects/dialect.js';
import { type Asked, Exchange } from './exchange.js';
import { FailureBreaker, type Result } from './failure-breaker.js';
import { forward } from './forward.js';
import { HttpError, toHttpError } from './http-error.js';
import { IncomingBody, readBody } from './incoming-body.js';
import { LoopBreaker } from './loop-breaker.js';
import type { ProxyServices } from './services.js';
import { harnessSessionId } from './session-header.js';
import { type Opened, openedOf } from './settle/settler.js';

/** Time for a client to send its whole request, milliseconds. */
const REQUEST_TIMEOUT_MS = 120_000;

/** Longer than any client keeps an idle connection, so that none is closed just as a request is sent on it. */
const KEEP_ALIVE_MS = 75_000;

/** A conversation that has gone out is read after the first byte of its answer, which then does not share the processor, or after this. */
const READ_AFTER_MS = 50;

async function answerBegins(response: Promise<unknown>): Promise<void> {
  await Promise.race([response.catch(() => undefined), sleep(READ_AFTER_MS, undefined, { ref: false })]);
  await setImmediate();
}

const REFUSED_FOR_MS = 60_000;
const MAX_REFUSED = 1000;

class LatelyRefused {
  readonly #until = new Map<string, number>();

  has(asker: string): boolean {
    return (this.#until.get(asker) ?? 0) > performance.now();
  }

  add(asker: string): void {
    this.#until.delete(asker);
    this.#until.set(asker, performance.now() + REFUSED_FOR_MS);
    if (this.#until.size > MAX_REFUSED) this.#until.delete(this.#until.keys().next().value!);
  }
}

/** Says who asks on `route`; throws HttpError. */
export type Identify = (request: IncomingMessage, route: Route) => Caller;

/** Where a request may come from, whatever it asks; throws NotAdmitted. */
export type Admit = (request: IncomingMessage) => void;

export class ProxyServer {
  readonly http: Server;
  readonly #running = new Map<Promise<Result>, Caller>();
  readonly #breaker = new LoopBreaker();
  readonly #failures = new FailureBreaker();
  /** Who lately asked for what should not go out: read before it is sent, so that the next one gets its status. */
  readonly #refused = new LatelyRefused();

  constructor(
    private readonly services: ProxyServices,
    private readonly identify: Identify,
    private readonly admit: Admit = () => undefined,
  ) {
    this.http = createServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
      (request, response) => void this.#serve(request, response),
    );
  }

  /** Open exchanges of `caller`. */
  running(caller: Caller): Promise<unknown>[] {
    return [...this.#running].flatMap(([work, owner]) => (owner === caller ? [work] : []));
  }

  /** Hangs up on everybody and waits until what was open is recorded. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()));
    this.http.closeAllConnections();
    await Promise.all(this.#running.keys());
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let dialect = DIALECTS.chat;
    // A client that went away is noticed by whoever writes next.
    response.on('error', () => undefined);
    try {
      this.admit(request);
      const route = routeOf(request);
      if (route.endpoint === 'responses' || route.endpoint === 'messages') dialect = DIALECTS[route.endpoint];
      else if (route.endpoint === 'count') dialect = DIALECTS.messages;
      const caller = this.identify(request, route);
      if (route.endpoint === 'models' && caller.upstream === null) return await this.#models(response);
      if (route.endpoint === 'count' && caller.upstream === null) return await this.#count(request, response);
      if (route.endpoint !== dialect.api) return await forward(this.services, caller, route, request, response);
      const body = new IncomingBody(request);
      const tell = caller.hint.origin === 'user' ? await this.#admitted(caller, request, dialect, body) : null;
      let result: Result = null;
      try {
        const asked = await this.#read(request, response, caller, dialect, { body, query: route.query });
        const work = new Exchange(this.services, caller, asked, request, response).run();
        this.#running.set(work, caller);
        result = await work.finally(() => this.#running.delete(work));
      } finally {
        tell?.(result);
      }
    } catch (error) {
      request.resume();
      if (error instanceof NotAdmitted) this.services.onRefused(request, error.why);
      dialect.sendError(response, toHttpError(error));
      // Half an answer must not look like one that goes on.
      if (!response.writableEnded) response.destroy();
    }
  }

  /**
   * Throws 403 while the breaker of this session is open. Without the id of a session its conversation has to be read, which nobody waits
   * for while all is well. Rejects when the client hangs up.
   */
  async #admitted(
    { harness, upstream }: Caller,
    request: IncomingMessage,
    dialect: Dialect,
    body: IncomingBody,
  ): Promise<(result: Result) => void> {
    const failures = this.#failures;
    const server = `${harness}\n${upstream?.baseUrl ?? 'engine'}`;
    const session = harnessSessionId(request, { cacheKey: null });
    if (session !== null) return failures.admit(`${server}\n${session}`);
    const key = async (): Promise<string> => `${server}\n${conversationKey(await body.whole(), dialect.list)}`;
    if (failures.isOpen) return failures.admit(await key());
    return (result) => {
      if (result === null || (result && !failures.isConcerned)) return;
      // A harness that hung up has no result.
      key().then(
        (known) => failures.tell(known, result),
        () => undefined,
      );
    };
  }

  async #read(
    http: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    dialect: Dialect,
    { body, query }: { body: IncomingBody; query: string },
  ): Promise<Asked> {
    const { settler } = this.services;
    const id = newId('req');
    const harnessSession = harnessSessionId(http, { cacheKey: null });
    const asker = `${caller.hint.workerKey ?? caller.harness}\n${harnessSession ?? ''}`;
    // What is given to the settler is gone here: the breaker may want to know the conversation, and it may still be going out.
    const isNeeded = harnessSession === null || body.length === null;
    const open = (bytes: Buffer, loopKey: string | null): Promise<Opened> =>
      settler.open(id, dialect.api, isNeeded ? Buffer.from(bytes) : bytes, loopKey, caller.hint.origin);
    const first = this.#refused.has(asker) ? Buffer.from(await body.whole()) : null;
    const read = first && (await settler.open(id, dialect.api, first, asker, caller.hint.origin));
    const sent = await this.#sendEarly(http, response, caller, dialect, { body, query });
    if (sent !== null) {
      const opening = body.ended.then(async () => {
        await answerBegins(sent.response);
        return read ?? open(await body.whole(), asker);
      });
      opening.catch((cause: unknown) => cause instanceof HttpError && this.#refused.add(asker));
      return { id, dialect, query, opening, chat: null, sent };
    }
    const bytes = await body.whole();
    const chat = dialect.parse(parseJsonBody(bytes));
    const session = `${asker}\n${chat.cacheKey ?? ''}`;
    this.#breaker.checkTurn(session, chat);
    if (caller.hint.origin === 'user') this.#breaker.checkCalls(session, chat);
    // What it says is known here; should it fail there, recording fails by name.
    open(bytes, null).catch(() => undefined);
    return { id, dialect, query, opening: Promise.resolve(openedOf(chat)), chat, sent: null };
  }

  /**
   * What a user's harness asks a server in the server's own API goes out while it comes in, before anything here has read it: the length
   * of a conversation costs the harness nothing. null: the body has to be read first.
   */
  async #sendEarly(
    http: IncomingMessage,
    response: ServerResponse,
    { upstream, hint }: Caller,
    dialect: Dialect,
    coming: { body: IncomingBody; query: string },
  ): Promise<Asked['sent']> {
    if (upstream === null || hint.origin !== 'user' || (upstream.api ?? dialect.api) !== dialect.api) return null;
    const gone = new AbortController();
    response.once('close', () => !response.writableFinished && gone.abort());
    const asked = { ...coming, upstream, dialect, headers: http.headers };
    const sent = await sendAsItComes(asked, this.services.deadlines, gone.signal);
    // Whoever waits for it later hears of a failure; nobody may be waiting yet.
    sent?.response.catch(() => undefined);
    return sent && { ...sent, abort: () => gone.abort() };
  }

  /** Anthropic's count of a prompt, by the engine's own tokenizer. */
  async #count(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const value = parseJsonBody(await readBody(request));
    // A count asks for no answer and so names no limit of one.
    const chat = DIALECTS.messages.parse({ max_tokens: 1, ...value });
    checkForEngine(chat);
    const tokens = await this.services.engine.count({ messages: chat.messages, tools: chat.tools });
    sendJson(response, 200, { input_tokens: tokens });
  }

  async #models(response: ServerResponse): Promise<void> {
    const { id, contextLength } = await this.services.engine.model();
    const model = {
      id: id.startsWith('tackroom/') ? id : `tackroom/${id}`,
      object: 'model',
      created: 0,
      owned_by: 'tackroom',
      // Where vLLM says it, and hermes looks for it.
      max_model_len: contextLength,
    };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ object: 'list', data: [model] }));
  }
}

/** The loopback port: the user's own harnesses, with the token of this install. */
export function identifyUser(services: ProxyServices): Identify {
  return (request, route) => {
    checkToken(request, route, services.token);
    return userCaller(
      route.harness,
      services.routes.adapterFor(route.harness),
      services.routes.upstreamFor(route.harness),
    );
  };
}
