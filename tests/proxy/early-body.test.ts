/** A body on its way to another server is sent on while it comes in. */
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Rig, startRig } from './support.js';

let rig: Rig;
let server: Server;
let seen: { bytes: number; text: string; length: string | undefined; ended: boolean; broken: boolean }[] = [];

const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});

beforeEach(async () => {
  seen = [];
  server = createServer((asked, answer) => {
    const one = { bytes: 0, text: '', length: asked.headers['content-length'], ended: false, broken: false };
    seen.push(one);
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => {
      one.bytes += chunk.length;
      chunks.push(chunk);
    });
    asked.once('error', () => undefined);
    asked.once('close', () => {
      one.broken = !asked.complete;
    });
    asked.once('end', () => {
      one.text = Buffer.concat(chunks).toString('utf8');
      one.ended = true;
      answer.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  rig = await startRig();
});
afterEach(async () => {
  await rig.close();
  server.closeAllConnections();
  server.close();
});

const route = async (model?: string): Promise<void> => {
  const { port } = server.address() as AddressInfo;
  rig.store.setSetting('upstreams', { pi: { baseUrl: `http://127.0.0.1:${port}/v1`, ...(model && { model }) } });
  await rig.call('routes.reload');
};

const eventually = (holds: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(holds()).toBe(true), { timeout: 5000, interval: 10 });

/** A request that stays open; `answer` is its status and text. */
function begin(length: number | null) {
  const outgoing = request({
    host: '127.0.0.1',
    port: rig.port,
    method: 'POST',
    path: '/pi/v1/chat/completions',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${rig.token}`,
      ...(length !== null && { 'content-length': length }),
    },
  });
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (response: IncomingMessage) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
  });
  answer.catch(() => undefined);
  return { outgoing, answer };
}
const body = (model: string, kilobytes: number): Buffer =>
  Buffer.from(
    JSON.stringify({ model, messages: [{ role: 'user', content: `ü${'x'.repeat(kilobytes * 1000)}` }], n: 1 }),
  );

it.each([
  ['as it is', undefined],
  ['with the name of the model replaced', 'qwen3:8b-instruct'],
])('reaches the server before its end, %s', async (_what, model) => {
  await route(model);
  const bytes = body('m', 3000);
  const { outgoing, answer } = begin(bytes.length);
  outgoing.write(bytes.subarray(0, 1_000_000));
  await eventually(() => (seen[0]?.bytes ?? 0) > 900_000);
  outgoing.end(bytes.subarray(1_000_000));
  expect(await answer).toEqual({ status: 200, text: ANSWER });
  const sent = bytes.toString('utf8').replace('"m"', JSON.stringify(model ?? 'm'));
  expect(seen[0]!.text).toBe(sent);
  expect(seen[0]!.length).toBe(String(Buffer.byteLength(sent)));
  expect(rig.store.request.count()).toBe(1);
});

it.each([0, 1, 5, 9, 10, 11, 12, 13, 15])('whatever came first: the first %d bytes', async (cut) => {
  await route('other');
  const bytes = body('m\\"', 1);
  const { outgoing, answer } = begin(bytes.length);
  if (cut > 0) outgoing.write(bytes.subarray(0, cut));
  else outgoing.flushHeaders();
  await new Promise((resolve) => setTimeout(resolve, 30));
  outgoing.end(bytes.subarray(cut));
  expect((await answer).status).toBe(200);
  expect(seen[0]!.text).toBe(bytes.toString('utf8').replace('"m\\\\\\""', '"other"'));
});

it('waits for the end of a body whose length nobody knows', async () => {
  await route();
  const bytes = body('m', 300);
  const { outgoing, answer } = begin(null);
  outgoing.write(bytes.subarray(0, 100));
  outgoing.end(bytes.subarray(100));
  expect((await answer).status).toBe(200);
  expect(seen[0]!.text).toBe(bytes.toString('utf8'));
});

it('breaks off with a harness that hangs up, and records nothing of what nobody has read', async () => {
  await route();
  const bytes = body('m', 3000);
  const { outgoing } = begin(bytes.length);
  outgoing.on('error', () => undefined);
  outgoing.write(bytes.subarray(0, 1_000_000));
  await eventually(() => (seen[0]?.bytes ?? 0) > 900_000);
  outgoing.destroy();
  await eventually(() => seen[0]!.broken);
  expect([seen[0]!.ended, rig.store.request.count()]).toEqual([false, 0]);
  const { outgoing: next, answer } = begin(body('m', 1).length);
  next.end(body('m', 1));
  expect((await answer).status).toBe(200);
});

it('ends what is no request, on both sides', async () => {
  await route();
  const bytes = Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${'x'.repeat(300_000)}"}`);
  const { outgoing, answer } = begin(bytes.length);
  outgoing.end(bytes);
  const { status, text } = await answer;
  expect([status, text]).toEqual([400, expect.stringContaining('not valid JSON')]);
  expect(rig.store.request.count()).toBe(0);
});
