/** The browser's bridge against the real window server. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type ConnectionState, SocketBridge } from '../../renderer/bridge/socket-bridge.js';
import { type Fixture, goodHeaders, openFixture } from '../window/support.js';

let fixture: Fixture;
let signedIn = true;

beforeAll(async () => {
  fixture = await openFixture();
  // Browsers send Origin and cookie by themselves; here the socket is told to.
  class SignedSocket extends WebSocket {
    constructor(url: string) {
      super(url, {
        headers: signedIn ? goodHeaders(fixture.server.port) : { Origin: `http://127.0.0.1:${fixture.server.port}` },
      });
      // A refused connection closes; browsers have no error to throw.
      this.on('error', () => undefined);
    }
  }
  vi.stubGlobal('WebSocket', SignedSocket);
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await fixture.close();
});

function open() {
  const states: ConnectionState[] = [];
  const bridge = new SocketBridge({
    url: `ws://127.0.0.1:${fixture.server.port}/bridge`,
    onState: (state) => states.push(state),
    isSignedIn: () => Promise.resolve(signedIn),
  });
  bridge.connect();
  return { bridge, states };
}

describe('SocketBridge', () => {
  it('answers calls made before it was connected', async () => {
    const { bridge, states } = open();
    expect(await bridge.call('runs.list', {})).toEqual({ ok: true, output: { runs: [] } });
    expect(states).toEqual(['connecting', 'open']);
    bridge.close();
  });

  it('gives errors as values with their code', async () => {
    const { bridge } = open();
    expect(await bridge.call('runs.get', { id: 'none' })).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } });
    bridge.close();
  });

  it('passes events on', async () => {
    const { bridge } = open();
    const got: unknown[] = [];
    bridge.onEvent((message) => got.push(message));
    await bridge.call('runs.list', {});
    fixture.bus.publish('record.changed', { kind: 'run', id: 'r' });
    await expect.poll(() => got).toEqual([{ event: 'record.changed', data: { kind: 'run', id: 'r' } }]);
    bridge.close();
  });

  it('says when the browser is not signed in, and does not knock on', async () => {
    signedIn = false;
    const { bridge, states } = open();
    await expect.poll(() => states.at(-1)).toBe('signed-out');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(states).toEqual(['connecting', 'signed-out']);
    signedIn = true;
    bridge.close();
  });
});
