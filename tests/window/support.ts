import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { WindowServices } from '../../contract/api.js';
import { RefusalLog } from '../../main/services/refusals.js';
import { openStore, type Store } from '../../main/store/store.js';
import { EventBus } from '../../main/window/event-bus.js';
import { startWindowServer, type WindowServer } from '../../main/window/server.js';
import type { StatusSource } from '../../main/window/service-views.js';
import { createWindowServices } from '../../main/window/services.js';
import { connectSources } from './connect-sources.js';

export const TOKEN = 'test-token-0123456789abcdefghijklmnop';

/** A service that nobody runs. */
export const absent: StatusSource = {
  call: () => Promise.reject(new Error('The service is not running.')),
  on: () => () => undefined,
};

export interface Fixture {
  store: Store;
  bus: EventBus;
  services: WindowServices;
  server: WindowServer;
  dir: string;
  close(): Promise<void>;
}

/** A window server over an empty real store and a folder with one page; a secret lies beside the folder. */
export async function openFixture(): Promise<Fixture> {
  const dir = mkdtempSync(join(tmpdir(), 'tackroom-window-'));
  const staticDir = join(dir, 'renderer');
  mkdirSync(staticDir);
  writeFileSync(join(staticDir, 'index.html'), '<!doctype html><title>page</title>');
  writeFileSync(join(staticDir, '.env'), 'hidden');
  writeFileSync(join(dir, 'secret.json'), '"secret"');
  const store = openStore(dir);
  const bus = new EventBus();
  const services = createWindowServices({
    store,
    bus,
    connect: connectSources(dir),
    gateway: absent,
    engine: absent,
    transcript: () => undefined,
    swap: () => Promise.reject(new Error('not part of this test')),
    rollback: () => Promise.reject(new Error('not part of this test')),
    stopRun: () => Promise.resolve(),
  });
  const refusals = new RefusalLog(dir, 'window', [TOKEN]);
  const server = await startWindowServer({
    port: 0,
    token: TOKEN,
    services,
    bus,
    staticDir,
    onRefused: (request, why) => refusals.add(request, why),
  });
  return {
    store,
    bus,
    services,
    server,
    dir,
    async close() {
      await server.close();
      store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends the path exactly as given: no client-side normalising. */
export function fetchRaw(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = request(
      { host: '127.0.0.1', port, path, method, headers, setHost: headers.Host === undefined },
      (res) => {
        let body = '';
        res.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
      },
    );
    req.on('error', reject).end();
  });
}

export type Outcome = { socket: WebSocket } | { status: number };

/** Opens the bridge with the given headers; resolves with the socket or the refusal's status. */
export function openBridge(port: number, headers: Record<string, string>, path = '/bridge'): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    socket.once('open', () => resolve({ socket }));
    socket.once('unexpected-response', (_, res) => resolve({ status: res.statusCode ?? 0 }));
    socket.once('error', reject);
  });
}

export const goodHeaders = (port: number): Record<string, string> => ({
  Origin: `http://127.0.0.1:${port}`,
  Authorization: `Bearer ${TOKEN}`,
});

export async function connected(port: number): Promise<WebSocket> {
  const outcome = await openBridge(port, goodHeaders(port));
  if ('status' in outcome) throw new Error(`refused with ${outcome.status}`);
  return outcome.socket;
}

export const nextMessage = (socket: WebSocket): Promise<Record<string, unknown>> =>
  new Promise((resolve) =>
    socket.once('message', (data) => resolve(JSON.parse(String(data)) as Record<string, unknown>)),
  );

export const closeCode = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => socket.once('close', resolve));
