/** What should not have gone out is refused by its status from the second time on, and does not reach the server again. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BASH, type Rig, startRig } from './support.js';

let rig: Rig;
let server: Server;
let asked = 0;

const piece = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

beforeEach(async () => {
  asked = 0;
  server = createServer((request, response) => {
    request.resume().once('end', () => {
      asked++;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${piece({ content: 'Hi' }, null)}${piece({}, 'stop')}data: [DONE]\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  rig = await startRig();
  const { port } = server.address() as AddressInfo;
  rig.store.setSetting('upstreams', { pi: { baseUrl: `http://127.0.0.1:${port}/v1` } });
  await rig.call('routes.reload');
});
afterEach(async () => {
  await rig.close();
  server.closeAllConnections();
  server.close();
});

const ask = (session: string, messages: unknown) =>
  rig.post(
    '/pi/v1/chat/completions',
    { model: 'm', stream: true, messages, tools: [BASH] },
    { 'x-session-id': session },
  );

it('a conversation that cannot be read', async () => {
  expect((await ask('s1', 'none')).text).toContain('The request is not valid at messages');
  const before = asked;
  expect(await ask('s1', 'none')).toMatchObject({ status: 400 });
  expect(asked).toBe(before);
  expect((await ask('s2', [{ role: 'user', content: 'Hi' }])).text).toContain('[DONE]');
  expect((await ask('s1', [{ role: 'user', content: 'Hi' }])).text).toContain('[DONE]');
});

it('a turn that is asked without end', { timeout: 30_000 }, async () => {
  const statuses: number[] = [];
  for (let turn = 0; turn < 70; turn++) statuses.push((await ask('s1', [{ role: 'user', content: 'Go' }])).status);
  expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 200));
  expect(statuses.slice(61)).toEqual(Array.from({ length: 9 }, () => 403));
  expect(asked).toBe(61);
  expect(rig.store.request.count()).toBe(60);
});
