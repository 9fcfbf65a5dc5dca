/**
 * The server behind the browser window: static files of the renderer and one WebSocket, on loopback only.
 * The address it returns carries the token in its fragment, which browsers send to nobody; the page trades it for a
 * cookie at POST /auth and removes it from the address bar. GET /auth tells whether the cookie is valid.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { MAX_INPUT_BYTES, type WindowServices } from '../../contract/api.js';
import { TackroomError } from '../../contract/errors.js';
import type { Why } from '../services/refusals.js';
import { Admission } from './admission.js';
import type { EventBus } from './event-bus.js';
import { runSocketSession } from './socket-session.js';
import { SECURITY_HEADERS, serveStatic } from './static-files.js';

const HOST = '127.0.0.1';
const MAX_WINDOWS = 16;
const PING_MS = 30_000;

export interface WindowServerOptions {
  /** 0 takes any free port. */
  port: number;
  /** Per-install secret, at least 32 characters. */
  token: string;
  services: WindowServices;
  bus: EventBus;
  /** Folder of the built renderer. */
  staticDir: string;
  /** Somebody was turned away. */
  onRefused?(request: IncomingMessage, why: Why): void;
}

export interface WindowServer {
  /** To be opened by the user: holds the token in its fragment. */
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Throws PORT_IN_USE, naming the port; BAD_ARGUMENT for a weak token. */
export async function startWindowServer(options: WindowServerOptions): Promise<WindowServer> {
  if (options.token.length < 32)
    throw new TackroomError('BAD_ARGUMENT', 'The window token is shorter than 32 characters.');
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 30_000, headersTimeout: 10_000 });
  const port = await listen(server, options.port);
  const admission = new Admission(options.token, port);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_INPUT_BYTES, perMessageDeflate: false });

  server.on('request', (request, response) => void answer(request, response, admission, options));
  server.on('upgrade', (request, socket: Socket, head) => {
    socket.on('error', () => socket.destroy());
    const refusal = refuseUpgrade(request, admission, sockets.clients.size);
    if (refusal) {
      if (refusal.why) options.onRefused?.(request, refusal.why);
      socket.end(`HTTP/1.1 ${refusal.status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => runSocketSession(client, options.services, options.bus));
  });
  const stopPings = keepAlive(sockets);

  return {
    url: `http://${HOST}:${port}/#token=${encodeURIComponent(options.token)}`,
    port,
    async close() {
      stopPings();
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        reject(
          new TackroomError(
            'PORT_IN_USE',
            `Port ${port} is already in use on ${HOST}.`,
            'Choose another one with --ui-port, or stop the program that holds it.',
            { cause: error },
          ),
        );
      else if (error.code === 'EACCES')
        reject(
          new TackroomError(
            'IO',
            `Port ${port} may not be opened by this user.`,
            'Choose a port above 1023 with --ui-port.',
            { cause: error },
          ),
        );
      else reject(error);
    });
    server.listen(port, HOST, () => resolve());
  });
  return (server.address() as AddressInfo).port;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  admission: Admission,
  { staticDir, onRefused }: Pick<WindowServerOptions, 'staticDir' | 'onRefused'>,
): Promise<void> {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  const refuse = (status: number, text: string): void =>
    void response
      .writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' })
      .end(`${text}\n`);
  const turnAway = (why: Why, status: number, text: string): void => {
    onRefused?.(request, why);
    refuse(status, text);
  };
  if (!admission.hostAllowed(request)) return turnAway('host', 421, 'This address does not belong to Tackroom.');
  if (request.url === '/auth') {
    if (request.method === 'GET') {
      response.writeHead(admission.cookieAllowed(request) ? 204 : 401, { 'Cache-Control': 'no-store' }).end();
      return;
    }
    if (request.method !== 'POST') return refuse(405, 'Only GET and POST.');
    if (!admission.originAllowed(request)) return turnAway('origin', 403, 'Another site asked.');
    if (!admission.tokenAllowed(request)) return turnAway('token', 401, 'The token is wrong.');
    response.writeHead(204, { 'Set-Cookie': admission.setCookie(), 'Cache-Control': 'no-store' }).end();
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'Only GET.');
  await serveStatic(staticDir, request, response);
}

interface UpgradeRefusal {
  status: string;
  /** Absent: nothing is wrong with whoever asked. */
  why?: Why;
}

function refuseUpgrade(request: IncomingMessage, admission: Admission, windows: number): UpgradeRefusal | undefined {
  if (!admission.hostAllowed(request)) return { status: '421 Misdirected Request', why: 'host' };
  if (request.url !== '/bridge') return { status: '404 Not Found' };
  if (!admission.originAllowed(request)) return { status: '403 Forbidden', why: 'origin' };
  if (!admission.cookieAllowed(request) && !admission.tokenAllowed(request))
    return { status: '401 Unauthorized', why: 'token' };
  if (windows >= MAX_WINDOWS) return { status: '503 Service Unavailable' };
  return undefined;
}

/** Ends connections that stopped answering pings. */
function keepAlive(sockets: WebSocketServer): () => void {
  const alive = new WeakSet<object>();
  const timer = setInterval(() => {
    for (const client of sockets.clients) {
      if (client.listenerCount('pong') === 0) client.on('pong', () => alive.add(client));
      else if (!alive.delete(client)) {
        client.terminate();
        continue;
      }
      client.ping();
    }
  }, PING_MS);
  timer.unref();
  return () => clearInterval(timer);
}
