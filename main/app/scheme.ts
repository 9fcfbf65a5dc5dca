/** `app://tackroom/…`: the built renderer, from one folder, with the same headers as the browser window's server. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { protocol, type Session } from 'electron';
import { resolveStatic, SECURITY_HEADERS } from '../window/static-files.js';
import { APP_SCHEME } from './channels.js';
import { isAppUrl } from './lockdown.js';

/** Call before the app is ready. */
export function registerScheme(): void {
  const privileges = { standard: true, secure: true, supportFetchAPI: true, codeCache: true };
  protocol.registerSchemesAsPrivileged([{ scheme: APP_SCHEME, privileges }]);
}

/** Answers a request of a page with a file of `root`; 404 for anything else, 403 for another host. */
export async function answerFromFolder(root: string, request: Request): Promise<Response> {
  const refuse = (status: number, text: string): Response =>
    new Response(`${text}\n`, {
      status,
      headers: { ...SECURITY_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' },
    });
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'Only GET.');
  if (!isAppUrl(request.url)) return refuse(403, 'This address does not belong to Tackroom.');
  const found = await resolveStatic(root, new URL(request.url).pathname);
  if (!found) return refuse(404, 'Not found.');
  const headers = { ...SECURITY_HEADERS, 'Content-Type': found.type, 'Content-Length': String(found.bytes) };
  if (request.method === 'HEAD') return new Response(null, { headers });
  return new Response(Readable.toWeb(createReadStream(found.file)) as ReadableStream, { headers });
}

/** Call once the app is ready, before any window. */
export function serveScheme(session: Session, root: string): void {
  session.protocol.handle(APP_SCHEME, (request) => answerFromFolder(root, request));
}
