import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandIo } from '../../main/cli/io.js';
import { type RouteOptions, routeCommand } from '../../main/cli/route.js';
import { StoreRoutes } from '../../main/proxy/store-routes.js';
import { openStore } from '../../main/store/store.js';
import { Vault } from '../../main/vault/vault.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-route-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function route(options: RouteOptions, input = ''): Promise<{ out: string; err: string }> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(input);
  const io: CommandIo = {
    stdin,
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

describe('a key of its own', () => {
  const [server, key] = ['http://127.0.0.1:8080/v1', `sk-${randomBytes(12).toString('hex')}`];
  const keyNow = (harness: 'pi' | 'hermes' = 'pi'): string | null | undefined => {
    const store = openStore(home);
    const upstream = new StoreRoutes(store).upstreamFor(harness);
    store.close();
    return upstream?.apiKey;
  };

  it('goes into the vault, and is not shown', async () => {
    await route({ harness: 'pi', server, keyStdin: true }, `${key}\n`);
    expect(keyNow()).toBe(key);
    const shown = [await route({}), await route({ json: true })].map(({ out }) => out).join('');
    expect(shown).toContain('the vault');
    expect(shown).not.toContain(key);
  });

  it('stays for the same server, and goes nowhere else', async () => {
    await route({ harness: 'pi', server, keyStdin: true }, key);
    await route({ harness: 'pi', server, model: 'other' });
    expect(keyNow()).toBe(key);
    await route({ harness: 'pi', server: 'http://127.0.0.1:8081/v1' });
    expect(keyNow()).toBeNull();
    expect(new Vault(home).list()).toEqual([]);
    await route({ harness: 'pi', server, keyStdin: true }, key);
    await route({ harness: 'pi', server, keyEnv: 'SOME_KEY' });
    expect(new Vault(home).list()).toEqual([]);
  });

  it('goes to no other server when the new one could not be saved, and does not stay behind', async () => {
    await route({ harness: 'pi', server, keyStdin: true }, key);
    const store = openStore(home);
    store.db.exec("CREATE TRIGGER full BEFORE INSERT ON setting BEGIN SELECT RAISE(FAIL, 'disk full'); END");
    const other = { harness: 'pi', server: 'http://127.0.0.1:8081/v1', keyStdin: true };
    await expect(route(other, `${key}2`)).rejects.toThrow('disk full');
    expect(new StoreRoutes(store).upstreamFor('pi')).toEqual({ baseUrl: server, apiKey: key });
    store.db.exec('DROP TRIGGER full');
    store.close();
    await route({ ...other, server }, `${key}3`);
    expect([keyNow(), new Vault(home).list().length]).toEqual([`${key}3`, 1]);
  });

  it('is found under its old name, which goes with the next key', async () => {
    await new Vault(home).put('upstream/pi', key);
    const store = openStore(home);
    store.setSetting('upstreams', { pi: { baseUrl: server, apiKeyVault: 'upstream/pi' } });
    store.close();
    await route({ harness: 'pi', server, model: 'other' });
    expect(keyNow()).toBe(key);
    await route({ harness: 'pi', server, keyStdin: true }, `${key}2`);
    expect([keyNow(), new Vault(home).list().includes('upstream/pi')]).toEqual([`${key}2`, false]);
  });

  it('is forgotten with its server, one or all', async () => {
    for (const harness of ['pi', 'hermes']) await route({ harness, server, keyStdin: true }, key);
    await route({ harness: 'pi', forget: true });
    expect([keyNow('pi'), keyNow('hermes')]).toEqual([undefined, key]);
    expect(new Vault(home).list()).toEqual([expect.stringMatching(/^upstream\/hermes\/\w+$/)]);
    await route({ forget: true });
    expect(new Vault(home).list()).toEqual([]);
    expect(keyNow('hermes')).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['two lines', `${'x'}\ny`],
    ['something invisible', 'sk-\u0007x'],
  ])('is refused when it is %s, and nothing changes', async (_what, input) => {
    await expect(route({ harness: 'pi', server, keyStdin: true }, input)).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
    });
    expect([keyNow(), new Vault(home).list()]).toEqual([undefined, []]);
  });

  it('is not left out when the vault is locked: nothing is sent', async () => {
    await route({ harness: 'pi', server, keyStdin: true }, key);
    await new Vault(home).protect({ kind: 'passphrase', passphrase: randomBytes(12).toString('hex') });
    expect(() => keyNow()).toThrow(expect.objectContaining({ code: 'VAULT_LOCKED' }) as Error);
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
