import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandIo } from '../../main/cli/io.js';
import { type RouteOptions, routeCommand } from '../../main/cli/route.js';
import { StoreRoutes } from '../../main/proxy/store-routes.js';
import { openStore } from '../../main/store/store.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-route-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function route(options: RouteOptions): Promise<{ out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io: CommandIo = {
    stdin: process.stdin,
    stdout,
    stderr,
    interactive: false,
    signal: new AbortController().signal,
  };
  expect(await routeCommand({ home, ...options }, io)).toBe(0);
  return { out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

it('sends a harness to a server, and back to the engine', async () => {
  expect(
    await route({ harness: 'pi', to: 'http://127.0.0.1:8080/v1/', model: 'm:8b', api: 'chat', keyEnv: 'SOME_KEY' }),
  ).toEqual({
    out: 'http://127.0.0.1:8080/v1 answers pi.\n',
    err: '',
  });
  process.env.SOME_KEY = 'sk-x';
  const store = openStore(home);
  const routes = new StoreRoutes(store);
  expect(routes.upstreamFor('pi')).toEqual({
    baseUrl: 'http://127.0.0.1:8080/v1',
    apiKey: 'sk-x',
    api: 'chat',
    model: 'm:8b',
  });
  expect(routes.upstreamFor('hermes')).toBeNull();
  store.close();
  delete process.env.SOME_KEY;
  await route({ harness: 'hermes', to: 'http://localhost:1/v1' });
  await route({ harness: 'pi', to: 'engine' });
  expect(JSON.parse((await route({ json: true })).out)).toEqual({
    routes: [
      { harness: 'pi', upstream: null },
      { harness: 'opencode', upstream: null },
      { harness: 'hermes', upstream: { baseUrl: 'http://localhost:1/v1' } },
      { harness: 'unknown', upstream: null },
    ],
  });
});

it('says when words leave the machine', async () => {
  expect((await route({ harness: 'pi', to: 'https://api.example.com/v1' })).err).toContain('leaves this machine');
});

it.for<[string, RouteOptions]>([
  ['no harness', { to: 'engine' }],
  ['an unknown harness', { harness: 'x', to: 'engine' }],
  ['no address', { harness: 'pi', to: 'localhost' }],
  ['another scheme', { harness: 'pi', to: 'file:///etc/passwd' }],
  ['a password in the address', { harness: 'pi', to: 'http://u:p@127.0.0.1/v1' }],
  ['a query', { harness: 'pi', to: 'http://127.0.0.1/v1?key=1' }],
  ['a key instead of its name', { harness: 'pi', to: 'http://127.0.0.1/v1', keyEnv: 'sk-123' }],
  ['an unknown API', { harness: 'pi', to: 'http://127.0.0.1/v1', api: 'grpc' }],
])('refuses %s', async ([, options]) => {
  await expect(route(options)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  expect(JSON.parse((await route({ harness: 'pi', json: true })).out)).toEqual({
    routes: [{ harness: 'pi', upstream: null }],
  });
});
