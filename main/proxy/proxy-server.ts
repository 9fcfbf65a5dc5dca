/** HTTP in front of exchanges: who asks is decided by the address that was reached. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { checkLocal, checkToken, type Route, routeOf } from './access.js';
import { readJsonBody } from './body.js';
import { type Caller, userCaller } from './caller.js';
import { checkForEngine } from './chat-request.js';
import { sendJson } from './chat-response.js';
import { DIALECTS } from './dialects/dialect.js';
import { Exchange } from './exchange.js';
import { forward } from './forward.js';
import { toHttpError } from './http-error.js';
import { LoopBreaker } from './loop-breaker.js';
import type { ProxyServices } from './services.js';
import { harnessSessionId } from './session-header.js';

/** Time for a client to send its whole request, milliseconds. */
const REQUEST_TIMEOUT_MS = 120_000;

/** Longer than any client keeps an idle connection, so that none is closed just as a request is sent on it. */
const KEEP_ALIVE_MS = 75_000;

/** Says who asks on `route`; throws HttpError. */
export type Identify = (request: IncomingMessage, route: Route) => Caller;

export class ProxyServer {
  readonly http: Server;
  readonly #running = new Map<Promise<void>, Caller>();
  readonly #breaker = new LoopBreaker();

  constructor(
    private readonly services: ProxyServices,
    private readonly identify: Identify,
  ) {
    this.http = createServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
      (request, response) => void this.#serve(request, response),
    );
  }

  /** Open exchanges of `caller`. */
  running(caller: Caller): Promise<void>[] {
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
    try {
      const route = routeOf(request);
      if (route.endpoint === 'responses' || route.endpoint === 'messages') dialect = DIALECTS[route.endpoint];
      else if (route.endpoint === 'count') dialect = DIALECTS.messages;
      const caller = this.identify(request, route);
      if (route.endpoint === 'models' && caller.upstream === null) return await this.#models(response);
      if (route.endpoint === 'count' && caller.upstream === null) return await this.#count(request, response);
      if (route.endpoint !== dialect.api) return await forward(this.services, caller, route, request, response);
      const { value, bytes } = await readJsonBody(request);
      const chat = dialect.parse(value);
      this.#breaker.check(`${caller.hint.workerKey ?? caller.harness}\n${harnessSessionId(request, chat) ?? ''}`, chat);
      const work = new Exchange(
        this.services,
        caller,
        { dialect, chat, bytes, query: route.query },
        request,
        response,
      ).run();
      this.#running.set(work, caller);
      await work.finally(() => this.#running.delete(work));
    } catch (error) {
      request.resume();
      dialect.sendError(response, toHttpError(error));
    }
  }

  /** Anthropic's count of a prompt, by the engine's own tokenizer. */
  async #count(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { value } = await readJsonBody(request);
    // A count asks for no answer and so names no limit of one.
    const chat = DIALECTS.messages.parse({ max_tokens: 1, ...value });
    checkForEngine(chat);
    const tokens = await this.services.engine.count({ messages: chat.messages, tools: chat.tools });
    sendJson(response, 200, { input_tokens: tokens });
  }

  async #models(response: ServerResponse): Promise<void> {
    const id = await this.services.engine.modelId();
    const model = {
      id: id.startsWith('tackroom/') ? id : `tackroom/${id}`,
      object: 'model',
      created: 0,
      owned_by: 'tackroom',
    };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ object: 'list', data: [model] }));
  }
}

/** The loopback port: the user's own harnesses, with the token of this install. */
export function identifyUser(services: ProxyServices): Identify {
  return (request, route) => {
    checkLocal(request);
    checkToken(request, route, services.token);
    return userCaller(
      route.harness,
      services.routes.adapterFor(route.harness),
      services.routes.upstreamFor(route.harness),
    );
  };
}
