import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UPSTREAMS_SETTING } from '../../main/proxy/upstream-setting.js';
import { passedAnswer, sseEvents } from './strict-sse.js';
import { ask, BASH, errorOf, type Rig, startRig } from './support.js';

let rig: Rig;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
let asked: { headers: IncomingMessage['headers']; url: string; body: Record<string, unknown> }[];
let baseUrl: string;
let closeServer: () => void;

beforeEach(async () => {
  rig = await startRig();
  asked = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    asked.push({
      headers: request.headers,
      url: request.url!,
      body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
    });
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  closeServer = () => {
    server.closeAllConnections();
    server.close();
  };
  process.env.TEST_UPSTREAM_KEY = 'sk-upstream';
  rig.store.setSetting(UPSTREAMS_SETTING, { pi: { baseUrl, apiKeyEnv: 'TEST_UPSTREAM_KEY' } });
});
afterEach(async () => {
  closeServer();
  delete process.env.TEST_UPSTREAM_KEY;
  await rig.close();
});

const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'other',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const usage = { ...chunk({}), choices: [], usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 } };

/** Streams events, split at odd places as a network does. */
function stream(...events: object[]): typeof respond {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const text = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
    for (let at = 0; at < text.length; at += 37) response.write(text.slice(at, at + 37));
    response.end();
  };
}

it('passes text and reasoning on, holds tool calls for the guard, and records without token ids', async () => {
  respond = stream(
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Hm' }),
    chunk({ content: 'Two ' }),
    chunk({ content: 'cälls.' }),
    chunk({
      tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'bash', arguments: '{"command"' } }],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ':"ls"}' } }] }),
    chunk({
      tool_calls: [
        { index: 1, id: 'b', type: 'function', function: { name: 'bash', arguments: '{"command":"evil"}' } },
      ],
    }),
    chunk({}, 'tool_calls'),
    usage,
  );
  const reply = await rig.chat({
    messages: ask('Hi'),
    tools: [BASH],
    stream: true,
    stream_options: { include_usage: true },
    vendor: { x: 1 },
  });
  const answer = passedAnswer(reply.text);
  expect(answer).toMatchObject({
    model: 'other',
    text: 'Two cälls.\n\n[tackroom] blocked call to `bash`: It is evil.',
    reasoning: 'Hm',
    toolCalls: [{ id: 'a', name: 'bash', arguments: '{"command":"ls"}' }],
    finish: 'tool_calls',
    usage: { prompt_tokens: 11, completion_tokens: 5 },
  });
  expect(asked[0]).toMatchObject({
    url: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-upstream', 'accept-encoding': 'identity' },
    body: { vendor: { x: 1 }, messages: ask('Hi'), stream: true },
  });
  expect(JSON.stringify(asked[0])).not.toContain(rig.token);
  const request = rig.store.request.list()[0]!;
  expect(request).toMatchObject({
    upstream: baseUrl,
    synthetic: false,
    adapterHash: null,
    promptTokens: 11,
    completionTokens: 5,
  });
  expect(rig.recorder.messages.message(request.answer!)).toMatchObject({
    reasoning_content: 'Hm',
    content: 'Two cälls.',
  });
  expect(rig.recorder.requestTokens(request.id)).toBeUndefined();
  expect(rig.engine.asked).toEqual([]);
});

it('keeps calls apart that come without an index', async () => {
  respond = stream(
    chunk({ tool_calls: [{ id: 'a', function: { name: 'bash', arguments: '{"command":' } }] }),
    chunk({ tool_calls: [{ function: { arguments: '"one"}' } }] }),
    chunk({ tool_calls: [{ id: 'b', function: { name: 'bash', arguments: '{"command":"two"}' } }] }),
    chunk({}, 'tool_calls'),
  );
  const { toolCalls } = passedAnswer((await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true })).text);
  expect(toolCalls.map((call) => call.arguments)).toEqual(['{"command":"one"}', '{"command":"two"}']);
});

it('mends a finish reason that would make a harness loop', async () => {
  respond = stream(chunk({ content: 'Just text.' }), chunk({}, 'tool_calls'));
  expect(passedAnswer((await rig.chat({ messages: ask('Hi'), stream: true })).text).finish).toBe('stop');
  respond = stream(chunk({ content: 'Odd.' }), chunk({}, 'eos_token'));
  expect(passedAnswer((await rig.chat({ messages: ask('Hi'), stream: true })).text).finish).toBe('stop');
});

it('forwards without streaming too', async () => {
  respond = (_request, response) => {
    const message = { role: 'assistant', content: 'Hello.' };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage: usage.usage }));
  };
  const reply = await rig.chat({ messages: ask('Hi') });
  expect(JSON.parse(reply.text)).toMatchObject({
    choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { total_tokens: 16 },
  });
});

it('passes an error body on byte for byte', async () => {
  const body = '{"error": {"message":"odd  spaces","type":"x"}}';
  respond = (_request, response) =>
    void response.writeHead(429, { 'content-type': 'application/json; charset=utf-8' }).end(body);
  const reply = await rig.chat({ messages: ask('Hi'), stream: true });
  expect([reply.status, reply.text]).toEqual([429, body]);
  expect(rig.store.request.list()[0]).toMatchObject({ status: 'error', upstream: baseUrl });
});

it('never passes off a stream that was cut as an answer, and drops its unchecked call', async () => {
  respond = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(chunk({ content: 'Half' }))}\n\n`);
    response.end(
      `data: ${JSON.stringify(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'bash', arguments: '{}' } }] }))}\n\n`,
    );
  };
  const { events } = sseEvents((await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true })).text);
  expect(JSON.parse(events.at(-1)!)).toMatchObject({ error: { code: 'UPSTREAM' } });
  expect(events.join('')).not.toContain('tool_calls');
  expect(rig.store.request.list()[0]).toMatchObject({ status: 'error' });
});

it.each([
  [
    'an HTML page',
    (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  ],
  [
    'broken JSON',
    (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"choi\n\n'),
  ],
  [
    'a redirect',
    (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  ],
  ['nothing', (request: IncomingMessage) => void request.socket.destroy()],
])('answers 502 for %s', async (_what, answer) => {
  respond = answer;
  const reply = await rig.chat({ messages: ask('Hi'), stream: true });
  expect([reply.status, errorOf(reply).code]).toEqual([502, 'UPSTREAM']);
});

it('lets an upstream play the model of a rollout, with its sampling', async () => {
  respond = stream(chunk({ content: 'Done.' }), chunk({}, 'stop'), usage);
  const worker = await rig.worker('w1', { upstream: baseUrl, sampling: { temperature: 0.5, seed: 1, maxTokens: 9 } });
  expect(
    passedAnswer(
      (
        await worker.chat({
          messages: ask('Go'),
          tools: [BASH],
          stream: true,
          temperature: 2,
          max_completion_tokens: 5000,
        })
      ).text,
    ).text,
  ).toBe('Done.');
  expect(asked[0]!.body).toMatchObject({ temperature: 0.5, max_completion_tokens: 9 });
  expect(asked[0]!.headers.authorization).toBeUndefined();
  expect(await worker.end()).toMatchObject({
    finish: 'stop',
    completionTokens: 5,
    trace: [{ synthetic: true, promptIds: [], completionIds: [] }],
  });
});
