/** Serves the built renderer from one folder and nothing else. */
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

/** Same policy as the Electron window: nothing inline, nothing from elsewhere, no frames. */
export const SECURITY_HEADERS: Record<string, string> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=()',
};

/** The file under `root` that `urlPath` names; undefined for anything outside, hidden, of unknown type, or not a file. */
export async function resolveStatic(
  root: string,
  urlPath: string,
): Promise<{ file: string; type: string; bytes: number } | undefined> {
  let path: string;
  try {
    path = decodeURIComponent(urlPath.split(/[?#]/, 1)[0] ?? '/');
  } catch {
    return undefined;
  }
  if (path === '/') path = '/index.html';
  if (!path.startsWith('/') || /[\\\0]/.test(path) || path.split('/').some((part) => part.startsWith('.')))
    return undefined;
  const type = TYPES[extname(path)];
  if (!type) return undefined;
  try {
    const base = await realpath(root);
    const file = await realpath(join(base, path));
    if (!file.startsWith(base + sep)) return undefined;
    const info = await stat(file);
    return info.isFile() ? { file, type, bytes: info.size } : undefined;
  } catch {
    return undefined;
  }
}

export async function serveStatic(root: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const found = await resolveStatic(root, request.url ?? '/');
  if (!found) {
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('Not found.\n');
    return;
  }
  const hashed = /-[\w-]{8}\.\w+$/.test(found.file);
  response.writeHead(200, {
    'Content-Type': found.type,
    'Content-Length': found.bytes,
    'Cache-Control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  if (request.method === 'HEAD') response.end();
  else
    createReadStream(found.file)
      .on('error', () => response.destroy())
      .pipe(response);
}
