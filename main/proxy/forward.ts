/**
 * Requests that are none for an answer of the model (model lists, token counts, whatever a server has beside): to the harness's
 * upstream server and back as they come. Nothing of them is recorded, and none of them can bring a tool call.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Route, unknownPath } from './access.js';
import { readBody } from './body.js';
import type { Caller } from './caller.js';
import { HttpError } from './http-error.js';
import { passedHeaders } from './relay/relay.js';
import type { ProxyServices } from './services.js';
import { sendUpstream, type UpstreamRequest } from './upstream-http.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Older and other ways to an answer: they would pass the guard by. */
const ANSWERS = /^\/(?:completions|complete|generate|chat|responses|batches|messages(?!\/count_tokens$))(?:\/|$)/;

/** Throws 404 without an upstream server, 403 for a way round the guard, 502. */
export async function forward(
  services: ProxyServices,
  caller: Caller,
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = METHODS.find((one) => one === request.method);
  if (caller.upstream === null || method === undefined) throw unknownPath();
  if (ANSWERS.test(route.path))
    throw new HttpError(
      403,
      'REFUSED',
      'Answers over this address cannot be checked: use /chat/completions, /responses or /messages.',
    );
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const asked: UpstreamRequest = {
    upstream: caller.upstream,
    api: route.endpoint === 'count' ? 'messages' : (caller.upstream.api ?? 'chat'),
    path: `${route.path}${route.query}`,
    method,
    body: method === 'GET' ? null : await readBody(request),
    contentType: request.headers['content-type'] ?? 'application/json',
    accept: request.headers.accept ?? '*/*',
    headers: request.headers,
  };
  const answer = await sendUpstream(asked, services.deadlines, gone.signal);
  response.writeHead(answer.statusCode, passedHeaders(answer.headers));
  await pipeline(answer.body, response).catch(() => response.destroy());
}
