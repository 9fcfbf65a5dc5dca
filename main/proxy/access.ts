/**
 * Who may talk to the loopback port, and where a path leads. A web page must not reach it (Origin), neither through a name
 * that resolves to this machine (Host), and another user of the machine does not know the token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Harness } from '../../contract/records.js';
import { HttpError } from './http-error.js';

export type Endpoint = 'chat' | 'models';

export interface Route {
  harness: Harness;
  endpoint: Endpoint;
  /** From `/NAME/TOKEN/v1`, for harnesses that can carry no header. */
  pathToken: string | null;
}

const PATH = /^(?:\/(pi|opencode|hermes)(?:\/([A-Za-z0-9_-]{16,}))?)?\/v1\/(chat\/completions|models)\/?$/;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/** Throws 404 for an unknown path, 400 for a wrong method. */
export function routeOf(request: IncomingMessage): Route {
  const path = (request.url ?? '/').split('?', 1)[0]!;
  const match = PATH.exec(path);
  if (!match)
    throw new HttpError(
      404,
      'NOT_FOUND',
      'This address serves /v1/chat/completions and /v1/models, optionally below /pi, /opencode or /hermes.',
    );
  const endpoint: Endpoint = match[3] === 'models' ? 'models' : 'chat';
  const expected = endpoint === 'chat' ? 'POST' : 'GET';
  if (request.method !== expected)
    throw new HttpError(400, 'BAD_ARGUMENT', `Use ${expected} for ${path.replace(match[2] ?? '\0', 'TOKEN')}.`);
  return { harness: (match[1] as Harness | undefined) ?? 'unknown', endpoint, pathToken: match[2] ?? null };
}

/** Throws 403 unless the request was addressed to this machine and comes from no web page. */
export function checkLocal(request: IncomingMessage): void {
  if (!LOOPBACK.test(request.headers.host ?? ''))
    throw new HttpError(403, 'REFUSED', 'Only requests addressed to 127.0.0.1 or localhost are served.');
  if (request.headers.origin !== undefined)
    throw new HttpError(403, 'REFUSED', 'Requests from web pages are not served.');
}

/** Throws 401 unless a header or the path carries `token`. */
export function checkToken(request: IncomingMessage, route: Route, token: string): void {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const key = request.headers['x-api-key'];
  const offered = [bearer, typeof key === 'string' ? key : undefined, route.pathToken ?? undefined];
  if (!offered.some((one) => one !== undefined && sameToken(one, token)))
    throw new HttpError(
      401,
      'UNAUTHORIZED',
      'The token of this Tackroom is missing or wrong: connect the harness again with `tackroom connect`.',
    );
}

function sameToken(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
