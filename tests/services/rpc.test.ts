import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import { type CallContext, RpcClient, type RpcServer, serveRpc } from '../../main/services/rpc.js';

let dir: string;
let path: string;
let server: RpcServer;
let client: RpcClient;
let aborted = 0;

const handlers = {
  echo: (params: unknown) => params,
  refuse: () => {
    throw new TackroomError('REFUSED', 'No.', 'Ask again.');
  },
  count: async ({ n }: { n: number }, { emit }: CallContext) => {
    for (let i = 0; i < n; i++) emit(i);
    return n;
  },
  forever: (_: unknown, { signal }: CallContext) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        aborted++;
        reject(new Error('gone'));
      }),
    ),
};

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rpc-'));
  path = join(dir, 's');
  server = await serveRpc(path, handlers as never);
  client = new RpcClient(path, 'test service', 500);
  aborted = 0;
});
afterEach(async () => {
  client.close();
  await server.close();
  rmSync(dir, { recursive: true });
});

describe('rpc', () => {
  it('answers, with events in order before the result', async () => {
    const events: unknown[] = [];
    expect(await client.call('count', { n: 5 }, { onEvent: (e) => events.push(e) })).toBe(5);
    expect(events).toEqual([0, 1, 2, 3, 4]);
  });
  it('carries text of any kind, and many megabytes', async () => {
    const text = `\u2028\n"\\${'ж'.repeat(3_000_000)}`;
    expect(await client.call('echo', { text })).toEqual({ text });
  });
  it('keeps code and hint of an error', async () => {
    await expect(client.call('refuse')).rejects.toMatchObject({ code: 'REFUSED', message: 'No.', hint: 'Ask again.' });
    await expect(client.call('nothing')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  });
  it('cancels at the server on a deadline and on an abort', async () => {
    await expect(client.call('forever', {}, { timeoutMs: 30 })).rejects.toMatchObject({ code: 'DEADLINE' });
    const controller = new AbortController();
    const call = client.call('forever', {}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect.poll(() => aborted).toBe(2);
  });
  it('rejects open calls when the service dies and connects again when it is back', async () => {
    const call = client.call('forever');
    setTimeout(() => void server.close(), 30);
    await expect(call).rejects.toMatchObject({ code: 'SERVICE_GONE' });
    await expect(client.call('echo', 1)).rejects.toMatchObject({ code: 'SERVICE_GONE' });
    server = await serveRpc(path, handlers as never);
    expect(await client.call('echo', 2)).toBe(2);
  });
  it('drops a connection that speaks nonsense and stays up', async () => {
    const socket = connect(path);
    await new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.write('GET / HTTP/1.1\r\n\r\n');
    });
    expect(await client.call('echo', 3)).toBe(3);
  });
  it('is for this user only', () => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
