/** What both ports refuse, and the line that it leaves. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { whoAnswers } from '../../main/harness/test-call.js';
import { RefusalLog, refusedLately } from '../../main/services/refusals.js';
import { http, startRig } from '../proxy/support.js';
import { fetchRaw, goodHeaders, openBridge, openFixture, TOKEN } from '../window/support.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-refused-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const EVIL = 'https://evil.example';
const from = (headers: IncomingMessage['headers']): IncomingMessage => ({ headers }) as IncomingMessage;
const logOf = (folder: string): string => readFileSync(join(folder, 'refused.log'), 'utf8');

describe('the gateway', () => {
  it('refuses another page, another host and a wrong token whatever they ask, and keeps a line of each', async () => {
    const rig = await startRig();
    const bearer = { authorization: `Bearer ${rig.token}` };
    const wrong = randomBytes(24).toString('base64url');
    const tries = [
      ['POST', '/pi/v1/chat/completions', { ...bearer, origin: EVIL }, 403],
      ['OPTIONS', '/pi/v1/chat/completions', { origin: EVIL }, 403],
      ['GET', `/hermes/${rig.token}/v1/unknown`, { origin: EVIL, 'user-agent': rig.token }, 403],
      ['GET', '/', { ...bearer, host: 'rebound.example' }, 403],
      ['GET', '/v1/models', { authorization: `Bearer ${wrong}`, 'user-agent': 'curl/8\u00e9' }, 401],
      ['GET', `/pi/${wrong}/v1/models`, { 'user-agent': rig.token }, 401],
    ] as const;
    for (const [method, path, headers, status] of tries)
      expect((await http({ port: rig.port }, method, path, null, headers)).status, path).toBe(status);
    expect((await http({ port: rig.port }, 'GET', '/v1/models', null, bearer)).status).toBe(200);
    expect(await whoAnswers(`http://127.0.0.1:${rig.port}`, rig.token)).toBe('ours');
    const { count, last } = refusedLately(rig.home);
    expect([count, last]).toEqual([6, expect.objectContaining({ port: 'gateway', why: 'token', from: '[token]' })]);
    const text = logOf(rig.home);
    expect(text.match(/"why":"(\w+)"/g)).toEqual(
      ['origin', 'origin', 'origin', 'host', 'token', 'token'].map((why) => `"why":"${why}"`),
    );
    expect(text).toContain('rebound.example');
    for (const token of [rig.token, wrong]) expect(text).not.toContain(token);
    expect(statSync(join(rig.home, 'refused.log')).mode & 0o777).toBe(0o600);
    await rig.close();
  });
});

describe('the window', () => {
  it('refuses them too, pages and sockets', async () => {
    const fixture = await openFixture();
    const { port } = fixture.server;
    const good = goodHeaders(port);
    expect((await fetchRaw(port, '/', { Host: 'rebound.example' })).status).toBe(421);
    expect((await fetchRaw(port, '/auth', { ...good, Origin: EVIL }, 'POST')).status).toBe(403);
    expect((await fetchRaw(port, '/auth', { ...good, Authorization: 'Bearer wrong' }, 'POST')).status).toBe(401);
    expect(await openBridge(port, { ...good, Origin: EVIL })).toEqual({ status: 403 });
    expect(await openBridge(port, { Origin: good.Origin! })).toEqual({ status: 401 });
    expect(refusedLately(fixture.dir)).toMatchObject({ count: 5, last: { port: 'window', why: 'token' } });
    // A page that asks whether it is signed in was not turned away.
    expect((await fetchRaw(port, '/auth')).status).toBe(401);
    expect(refusedLately(fixture.dir).count).toBe(5);
    expect(logOf(fixture.dir)).not.toContain(TOKEN);
    await fixture.close();
  });
});

describe('the log', () => {
  it('counts what it does not write when somebody knocks all the time, and stays small', () => {
    const log = new RefusalLog(home, 'gateway', []);
    for (let i = 0; i < 5000; i++) log.add(from({ origin: `${EVIL}/${'x'.repeat(500)}` }), 'origin');
    expect(logOf(home).split('\n').length).toBeLessThan(40);
    appendFileSync(join(home, 'refused.log'), 'x'.repeat(300 * 1024));
    const other = new RefusalLog(home, 'window', []);
    other.add(from({}), 'token');
    expect(statSync(join(home, 'refused.log')).size).toBeLessThan(1000);
    expect(refusedLately(home).last).toMatchObject({ port: 'window', from: 'a program without a name' });
  });

  it('forgets after a day, and reads over what is torn or not its own', () => {
    new RefusalLog(home, 'gateway', []).add(from({ 'user-agent': 'line\u0007' }), 'token');
    appendFileSync(join(home, 'refused.log'), '{"at":"yesterday"}\n[]\n{"at":');
    expect(refusedLately(home)).toMatchObject({ count: 1, last: { from: 'line?' } });
    expect(refusedLately(home, Date.now() + 25 * 3600 * 1000)).toEqual({ count: 0, last: null });
    expect(refusedLately(join(home, 'nothing'))).toEqual({ count: 0, last: null });
  });
});
