/**
 * Who may talk to the loopback port, and where a path leads. A web page must not reach it (Origin), neither through a name
 * that resolves to this machine (Host), and another user of the machine does not know the token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Harness } from '../../contract/records.js';
import { wrongToken } from '../harness/test-call.js';
import type { Why } from '../services/refusals.js';
import type { Api } from './dialects/dialect.js';
import { HttpError } from './http-error.js';

/** What a path asks for; `other` goes to the harness's upstream server as it came. */
export type Endpoint = Api | 'count' | 'models' | 'other';

export interface Route {
  harness: Harness;
  endpoint: Endpoint;
  /** From `/NAME/TOKEN/v1`, for harnesses that can carry no header. */
  pathToken: string | null;
  /** Below `/v1`, without the query. */
  path: string;
  /** With its question mark, or ''. */
  query: string;
}

const PATH = /^(?:\/(pi|opencode|hermes)(?:\/([A-Za-z0-9_-]{16,}))?)?\/v1(\/.+?)\/?$/;
const ENDPOINTS: Record<string, { endpoint: Endpoint; method: string }> = {
  '/chat/completions': { endpoint: 'chat', method: 'POST' },
  '/responses': { endpoint: 'responses', method: 'POST' },
  '/messages': { endpoint: 'messages', method: 'POST' },
  '/messages/count_tokens': { endpoint: 'count', method: 'POST' },
  '/models': { endpoint: 'models', method: 'GET' },
};
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/** Throws 404 for a path outside `/v1`, 400 for a wrong method. */
export function routeOf(request: IncomingMessage): Route {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const whole = mark < 0 ? url : url.slice(0, mark);
  const match = PATH.exec(whole);
  // No second spelling of a path: what is not recognised here must not be recognised behind it.
  if (!match || /(?:^|\/)\.{1,2}(?:\/|$)|\/\/|[^\w.:~/-]/.test(whole)) throw unknownPath();
  const path = match[3]!;
  const known = ENDPOINTS[path];
  if (known && request.method !== known.method)
    throw new HttpError(400, 'BAD_ARGUMENT', `Use ${known.method} for /v1${path}.`);
  return {
    harness: (match[1] as Harness | undefined) ?? 'unknown',
    endpoint: known?.endpoint ?? 'other',
    pathToken: match[2] ?? null,
    path,
    query: mark < 0 ? '' : withoutKeys(url.slice(mark + 1)),
  };
}

/** Keys of the harness are for us alone. */
function withoutKeys(query: string): string {
  const kept = query.split('&').filter((part) => !/^(?:api[-_]?key|key|token|access_token)(?:=|$)/i.test(part));
  return kept.join('') === '' ? '' : `?${kept.join('&')}`;
}

export const unknownPath = (): HttpError =>
  new HttpError(
    404,
    'NOT_FOUND',
    'This address serves /v1/chat/completions, /v1/responses, /v1/messages and /v1/models, optionally below /pi, /opencode or /hermes.',
  );

/** Somebody who may not come in. */
export class NotAdmitted extends HttpError {
  constructor(
    status: number,
    code: string,
    readonly why: Why,
    message: string,
  ) {
    super(status, code, message);
  }
}

/** Throws NotAdmitted (403) unless the request was addressed to this machine and comes from no web page. */
export function checkLocal(request: IncomingMessage): void {
  if (!LOOPBACK.test(request.headers.host ?? ''))
    throw new NotAdmitted(403, 'REFUSED', 'host', 'Only requests addressed to 127.0.0.1 or localhost are served.');
  if (request.headers.origin !== undefined)
    throw new NotAdmitted(403, 'REFUSED', 'origin', 'Requests from web pages are not served.');
}

/** Throws 401, for an intruder NotAdmitted, unless a header or the path carries `token`. */
export function checkToken(request: IncomingMessage, route: Route, token: string): void {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const key = request.headers['x-api-key'];
  const offered = [bearer, typeof key === 'string' ? key : undefined, route.pathToken ?? undefined];
  const isOffered = (wanted: string): boolean => offered.some((one) => one !== undefined && sameToken(one, wanted));
  if (isOffered(token)) return;
  const why = 'The token of this Tackroom is missing or wrong: connect the harness again with `tackroom connect`.';
  // `tackroom doctor` and the window look whether this is their gateway.
  if (isOffered(wrongToken(token))) throw new HttpError(401, 'UNAUTHORIZED', why);
  throw new NotAdmitted(401, 'UNAUTHORIZED', 'token', why);
}

function sameToken(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
