import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWindowServer } from '../../main/window/server.js';
import {
  closeCode,
  connected,
  type Fixture,
  fetchRaw,
  goodHeaders,
  nextMessage,
  openBridge,
  openFixture,
  TOKEN,
} from './support.js';

let fixture: Fixture;
let port: number;
beforeAll(async () => {
  fixture = await openFixture();
  port = fixture.server.port;
});
afterAll(() => fixture.close());

describe('pages', () => {
  it('serves the page under a policy that forbids everything inline and foreign', async () => {
    const { status, headers, body } = await fetchRaw(port, '/');
    expect(status).toBe(200);
    expect(body).toContain('<title>page</title>');
    const policy = String(headers['content-security-policy']);
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it.each([
    '/../secret.json',
    '/%2e%2e/secret.json',
    '/..%2fsecret.json',
    '/x/../../secret.json',
    '/..\\secret.json',
    '/%5c..%5csecret.json',
    '/.env',
    '/%00.html',
    '/%zz',
    '//etc/passwd',
    '/tackroom.db',
  ])('does not leave its folder for %s', async (path) => {
    const { status, body } = await fetchRaw(port, path);
    expect(status).toBe(404);
    expect(body).not.toContain('secret');
  });

  it('refuses a foreign Host, which is how DNS rebinding arrives', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      `127.0.0.1:${port + 1}`,
      `127.0.0.1.evil.example:${port}`,
    ])
      expect((await fetchRaw(port, '/', { Host: host })).status).toBe(421);
    expect((await fetchRaw(port, '/', { Host: `localhost:${port}` })).status).toBe(200);
  });

  it('answers nothing but GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect((await fetchRaw(port, '/', {}, method)).status).toBe(405);
  });
});

describe('token', () => {
  const origin = (): Record<string, string> => ({ Origin: `http://127.0.0.1:${port}` });

  it('trades the token for a cookie that scripts cannot read and other sites cannot send', async () => {
    const { status, headers } = await fetchRaw(
      port,
      '/auth',
      { ...origin(), Authorization: `Bearer ${TOKEN}` },
      'POST',
    );
    expect(status).toBe(204);
    const cookie = String(headers['set-cookie']);
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    expect(cookie).not.toContain(TOKEN);
    const opened = await openBridge(port, { ...origin(), Cookie: cookie.split(';')[0] ?? '' });
    expect('socket' in opened).toBe(true);
    if ('socket' in opened) opened.socket.terminate();
  });

  it('refuses wrong tokens, wrong origins and other methods', async () => {
    expect((await fetchRaw(port, '/auth', { ...origin(), Authorization: 'Bearer wrong' }, 'POST')).status).toBe(401);
    expect((await fetchRaw(port, '/auth', origin(), 'POST')).status).toBe(401);
    expect(
      (await fetchRaw(port, '/auth', { Origin: 'http://evil.example', Authorization: `Bearer ${TOKEN}` }, 'POST'))
        .status,
    ).toBe(403);
    expect((await fetchRaw(port, '/auth', { Authorization: `Bearer ${TOKEN}` }, 'POST')).status).toBe(403);
    expect((await fetchRaw(port, '/auth', { ...origin(), Authorization: `Bearer ${TOKEN}` }, 'PUT')).status).toBe(405);
  });

  it('tells a page whether its cookie is still good', async () => {
    const signed = await fetchRaw(port, '/auth', { ...origin(), Authorization: `Bearer ${TOKEN}` }, 'POST');
    const Cookie = String(signed.headers['set-cookie']).split(';')[0] ?? '';
    expect((await fetchRaw(port, '/auth', { Cookie })).status).toBe(204);
    expect((await fetchRaw(port, '/auth')).status).toBe(401);
  });

  it('is in the fragment of the address, which no server ever sees', () => {
    const url = new URL(fixture.server.url);
    expect(url.hash).toBe(`#token=${TOKEN}`);
    expect(url.search).toBe('');
    expect(url.hostname).toBe('127.0.0.1');
  });
});

describe('bridge', () => {
  it.each([
    ['no credentials', { Authorization: '' }, 401],
    ['a wrong token', { Authorization: 'Bearer nope' }, 401],
    ['a wrong cookie', { Authorization: '', Cookie: 'tackroom_1=x; a' }, 401],
    ['a foreign origin', { Origin: 'http://evil.example' }, 403],
    ['another local port', { Origin: 'http://127.0.0.1:1' }, 403],
    ['https of the same host', { Origin: 'https://127.0.0.1' }, 403],
    ['a null origin', { Origin: 'null' }, 403],
    ['a foreign host', { Host: 'evil.example' }, 421],
  ])('refuses %s', async (_, change, status) => {
    expect(await openBridge(port, { ...goodHeaders(port), ...change })).toEqual({ status });
  });

  it('refuses other paths', async () => {
    expect(await openBridge(port, goodHeaders(port), '/other')).toEqual({ status: 404 });
  });

  it('answers a call and names what is wrong with a bad one', async () => {
    const socket = await connected(port);
    const ask = async (frame: unknown): Promise<Record<string, unknown>> => {
      const reply = nextMessage(socket);
      socket.send(JSON.stringify(frame));
      return reply;
    };
    expect(await ask({ id: 1, call: 'runs.list', input: {} })).toEqual({
      id: 1,
      reply: { ok: true, output: { runs: [] } },
    });
    expect(await ask({ id: 2, call: 'sessions.list', input: { limit: 1e9 } })).toMatchObject({
      id: 2,
      reply: { ok: false, error: { code: 'BAD_ARGUMENT', message: expect.stringContaining('limit') } },
    });
    expect(await ask({ id: 3, call: 'runs.get', input: { id: 'none', more: 1 } })).toMatchObject({
      reply: { ok: false, error: { code: 'BAD_ARGUMENT' } },
    });
    expect(await ask({ id: 4, call: 'runs.get', input: { id: 'none' } })).toMatchObject({
      reply: { ok: false, error: { code: 'NOT_FOUND' } },
    });
    for (const call of ['__proto__', 'constructor', 'toString', 'files.read'])
      expect(await ask({ id: 5, call, input: {} })).toMatchObject({
        reply: { ok: false, error: { code: 'BAD_ARGUMENT' } },
      });
    socket.terminate();
  });

  it('shows no stack of an unexpected error', async () => {
    const socket = await connected(port);
    const reply = nextMessage(socket);
    socket.send(JSON.stringify({ id: 1, call: 'adapters.rollback', input: { harness: 'pi' } }));
    const text = JSON.stringify(await reply);
    expect(text).toContain('INTERNAL');
    expect(text).not.toMatch(/ at |\.ts|node_modules/);
    socket.terminate();
  });

  it.each([
    ['text that is no JSON', '{', 1008],
    ['a frame of another shape', '{"id":1}', 1008],
    ['a frame with more keys', '{"id":1,"call":"runs.list","input":{},"x":1}', 1008],
    ['a negative id', '{"id":-1,"call":"runs.list","input":{}}', 1008],
    ['an oversized frame', JSON.stringify({ id: 1, call: 'runs.list', input: 'x'.repeat(70_000) }), 1009],
  ])('closes on %s', async (_, text, code) => {
    const socket = await connected(port);
    const closed = closeCode(socket);
    socket.send(text);
    expect(await closed).toBe(code);
  });

  it('closes on binary frames', async () => {
    const socket = await connected(port);
    const closed = closeCode(socket);
    socket.send(Buffer.from('{"id":1,"call":"runs.list","input":{}}'));
    expect(await closed).toBe(1008);
  });

  it('slows down a window that asks without end', async () => {
    const socket = await connected(port);
    const replies: { reply: { ok: boolean; error?: { code: string } } }[] = [];
    const all = new Promise<void>((resolve) =>
      socket.on('message', (data) => replies.push(JSON.parse(String(data))) === 300 && resolve()),
    );
    for (let id = 0; id < 300; id++) socket.send(JSON.stringify({ id, call: 'runs.list', input: {} }));
    await all;
    const busy = replies.filter(({ reply }) => reply.error?.code === 'BUSY').length;
    expect(busy).toBeGreaterThan(100);
    expect(busy).toBeLessThan(300);
    socket.terminate();
  });

  it('passes events of the right shape to every window and keeps wrong ones back', async () => {
    const [a, b] = [await connected(port), await connected(port)];
    const got = Promise.all([nextMessage(a), nextMessage(b)]);
    fixture.bus.publish('run.step', { runId: 'r', step: -1, at: 0, metrics: {} });
    fixture.bus.publish('run.step', { runId: 'r', step: 1, at: 5, metrics: { reward: 0.5 } });
    const expected = { event: 'run.step', data: { runId: 'r', step: 1, at: 5, metrics: { reward: 0.5 } } };
    expect(await got).toEqual([expected, expected]);
    const before = fixture.bus.listeners;
    const closed = Promise.all([closeCode(a), closeCode(b)]);
    a.terminate();
    b.terminate();
    await closed;
    await expect.poll(() => fixture.bus.listeners).toBe(before - 2);
  });
});

describe('start', () => {
  it('names the port that is taken', async () => {
    const again = startWindowServer({
      port,
      token: TOKEN,
      services: fixture.services,
      bus: fixture.bus,
      staticDir: fixture.dir,
    });
    await expect(again).rejects.toMatchObject({ code: 'PORT_IN_USE', message: expect.stringContaining(String(port)) });
  });

  it('does not start with a guessable token', async () => {
    const weak = startWindowServer({
      port: 0,
      token: 'short',
      services: fixture.services,
      bus: fixture.bus,
      staticDir: fixture.dir,
    });
    await expect(weak).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  });
});
