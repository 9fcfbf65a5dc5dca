/**
 * Requests that are none for an answer of the model (model lists, token counts, whatever a server has beside): to the harness's
 * upstream server and back as they come; errors without our key. Nothing of them is recorded, and none of them can bring a tool call.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Route, unknownPath } from './access.js';
import type { Caller } from './caller.js';
import { HttpError } from './http-error.js';
import { readBody } from './incoming-body.js';
import type { ProxyServices } from './services.js';
import { headersWithout, refused, sendUpstream, type UpstreamRequest } from './upstream-http.js';

const METHODS = ['GET', 'POST'] as const;

/** Other ways to an answer would pass the guard by: what is not known to bring none is refused. */
const ASKS = /^\/(?:messages\/count_tokens|embeddings|tokenize|detokenize|rerank|score|moderations|apply-template)$/;
const LOOKS = /^\/(?:models(?:\/[\w.:/-]+)?|health|version|props|metrics|slots)$/;

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
  if (!(method === 'GET' ? LOOKS : ASKS).test(route.path))
    throw new HttpError(
      403,
      'REFUSED',
      'An answer over this address could not be checked: use /chat/completions, /responses or /messages.',
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
  if (answer.statusCode >= 300) await refused(answer, caller.upstream.apiKey);
  const type = String(answer.headers['content-type'] ?? '');
  if (type.includes('event-stream')) {
    answer.body.once('error', () => undefined).destroy();
    throw new HttpError(403, 'REFUSED', 'The upstream server streams over this address, which could not be checked.');
  }
  const encoding = String(answer.headers['content-encoding'] ?? '');
  response.writeHead(answer.statusCode, {
    ...headersWithout(answer.headers, caller.upstream.apiKey),
    // The bytes go on as they are, also from a server that compresses unasked.
    ...(encoding !== '' && { 'content-encoding': encoding }),
  });
  await pipeline(answer.body, response).catch(() => response.destroy());
}
