/** One request to another server, over HTTP. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import type { Api } from './dialects/dialect.js';
import { HttpError } from './http-error.js';
import { readDocument } from './relay/receive.js';
import { passedHeaders } from './relay/relay.js';
import type { Deadlines, Upstream } from './services.js';

/** What a harness's headers say about its request; the rest is about the connection to us, or about who may talk to us. */
const PASSED =
  /^(?:user-agent|accept-language|anthropic-.*|openai-.*|x-stainless-.*|x-session-.*|x-client-request-id|x-parent-session-id|session[-_]id)$/i;

/** Whole, or as it comes with its length in bytes. */
export type OutgoingBody = Buffer | string | { length: number; stream: Readable };

export interface UpstreamRequest {
  upstream: Upstream;
  api: Api;
  /** Below `/v1`, with its query. */
  path: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body: OutgoingBody | null;
  contentType: string;
  accept: string;
  /** Of the harness. */
  headers: IncomingHttpHeaders;
}

export const upstreamUrl = (upstream: Upstream, path: string): string =>
  `${upstream.baseUrl.replace(/\/+$/, '')}${path}`;

function keyHeaders(upstream: Upstream, api: Api): Record<string, string> {
  if (upstream.apiKey === null) return {};
  return api === 'messages' ? { 'x-api-key': upstream.apiKey } : { authorization: `Bearer ${upstream.apiKey}` };
}

/** Any status. Throws 502 for a server that cannot be reached. */
export async function sendUpstream(
  asked: UpstreamRequest,
  deadlines: Deadlines,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const passed = Object.fromEntries(
    Object.entries(asked.headers).filter(([name, value]) => PASSED.test(name) && typeof value === 'string'),
  ) as Record<string, string>;
  const coming = typeof asked.body === 'object' && asked.body !== null && 'stream' in asked.body ? asked.body : null;
  const body = coming?.stream ?? (asked.body as Buffer | string | null);
  try {
    return await request(upstreamUrl(asked.upstream, asked.path), {
      method: asked.method,
      headers: {
        ...passed,
        ...(asked.api === 'messages' &&
          passed['anthropic-version'] === undefined && { 'anthropic-version': '2023-06-01' }),
        ...(body !== null && { 'content-type': asked.contentType }),
        ...(coming !== null && { 'content-length': String(coming.length) }),
        accept: asked.accept,
        'accept-encoding': 'identity',
        ...keyHeaders(asked.upstream, asked.api),
      },
      body,
      signal,
      headersTimeout: deadlines.upstreamHeadersMs,
      bodyTimeout: deadlines.upstreamIdleMs,
    });
  } catch (cause) {
    throw unreachable(cause);
  }
}

/** Servers that refuse a key like to repeat it. Bytes for bytes: what surrounds it may be no text. */
function withoutKey(body: Buffer, key: string | null): Buffer {
  if (key === null || !body.includes(key)) return body;
  return Buffer.from(body.toString('latin1').replaceAll(key, '[key]'), 'latin1');
}

/** End-to-end headers without those that repeat our key. */
export function headersWithout(
  headers: Dispatcher.ResponseData['headers'],
  key: string | null,
): ReturnType<typeof passedHeaders> {
  const kept = Object.entries(passedHeaders(headers));
  return Object.fromEntries(key === null ? kept : kept.filter(([, value]) => !String(value).includes(key)));
}

/** An answer that is not 200, as it came but for our key; without its body where that is packed and could hold it. Never returns. */
export async function refused(response: Dispatcher.ResponseData, key: string | null): Promise<never> {
  const status = response.statusCode;
  const message = `The upstream server answered with status ${status}.`;
  let body: Buffer;
  try {
    body = await readDocument(response.body as AsyncIterable<Buffer>);
  } catch (cause) {
    throw cause instanceof HttpError ? cause : unreachable(cause);
  }
  if (status < 400) throw new HttpError(502, 'UPSTREAM', message);
  if (!/^(?:|identity)$/i.test(String(response.headers['content-encoding'] ?? '')))
    throw new HttpError(status, 'UPSTREAM', message);
  throw new HttpError(status, 'UPSTREAM', message, {
    body: withoutKey(body, key),
    headers: { 'content-type': 'application/json', ...headersWithout(response.headers, key) },
  });
}

export function unreachable(cause: unknown): HttpError {
  const detail = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new HttpError(502, 'UPSTREAM', `Connection error: the upstream server did not answer (${detail}).`);
}
