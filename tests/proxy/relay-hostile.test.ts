/** Upstream servers that send calls in odd places and orders: nothing that was not judged reaches the harness. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectSettler } from '../../main/proxy/settle/settler.js';
import { UPSTREAMS_SETTING } from '../../main/proxy/upstream-setting.js';
import { BASH, http, type Reply, type Rig, startRig } from './support.js';

type Json = Record<string, unknown>;
let rig: Rig;
let respond: (response: ServerResponse) => void;
let urls: string[];
let close: () => void;

beforeEach(async () => {
  rig = await startRig();
  urls = [];
  const server = createServer((request, response) => {
    urls.push(request.url!);
    request.resume().once('end', () => respond(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  rig.store.setSetting(UPSTREAMS_SETTING, {
    pi: { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` },
  });
  close = () => {
    server.closeAllConnections();
    server.close();
  };
});
afterEach(async () => {
  close();
  await rig.close();
});

const sse = (text: string): void => {
  respond = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
};
const named = (events: Json[]): void =>
  sse(events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
const chunks = (...events: Json[]): void =>
  sse(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
const json = (value: unknown): void => {
  respond = (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};
const ask = {
  chat: (stream = true): Promise<Reply> =>
    rig.chat({ messages: [{ role: 'user', content: 'Hi' }], tools: [BASH], stream }),
  responses: (stream = true): Promise<Reply> =>
    rig.post('/pi/v1/responses', { model: 'm', input: 'Hi', stream, tools: [{ type: 'function', ...BASH.function }] }),
  messages: (stream = true): Promise<Reply> =>
    rig.post('/pi/v1/messages', {
      model: 'm',
      max_tokens: 9,
      stream,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'bash', input_schema: BASH.function.parameters }],
    }),
};
const EVIL = JSON.stringify({ command: 'evil' });
const FINE = JSON.stringify({ command: 'ls' });

/** Nothing evil arrived, and whoever reads to the end knows that it is the end. */
function expectSafe(reply: Reply): void {
  expect(reply.text).not.toContain('evil\\');
  expect(reply.text).not.toContain('"evil"');
  if (reply.status === 200) expect(reply.text).toMatch(/blocked call|"error"/);
  else expect(reply.status).toBe(502);
}

describe('Responses', () => {
  const item = (id: string | undefined, call: string, args: string): Json => ({
    ...(id && { id }),
    type: 'function_call',
    call_id: call,
    name: 'bash',
    arguments: args,
  });
  const end = (...output: Json[]): Json => ({
    type: 'response.completed',
    response: { id: 'resp_1', status: 'completed', output },
  });
  const added = (one: Json, more: Json = {}): Json => ({
    type: 'response.output_item.added',
    ...more,
    item: { ...one, arguments: '' },
  });
  const done = (one: Json, more: Json = {}): Json => ({ type: 'response.output_item.done', ...more, item: one });
  const args = (id: string, delta: string, more: Json = {}): Json => ({
    type: 'response.function_call_arguments.delta',
    item_id: id,
    delta,
    ...more,
  });
  const evil = item(undefined, 'fc_a', EVIL);
  const fine = item('i2', 'c2', FINE);

  it.for<[string, Json[]]>([
    ['no index and no item id', [added(evil), args('fc_a', EVIL), done(evil), end(evil)]],
    [
      'no index',
      [added(item('i1', 'c1', EVIL)), args('i1', EVIL), done(item('i1', 'c1', EVIL)), end(item('i1', 'c1', EVIL))],
    ],
    ['ids that change', [added(item('i1', 'c1', EVIL)), done(item('i9', 'c1', EVIL)), end(item('i8', 'c1', EVIL))]],
    ['only the finished item', [done(evil), end(evil)]],
    ['only the end', [end(evil)]],
    [
      'a second call only as finished',
      [
        added(fine, { output_index: 0 }),
        done(fine, { output_index: 0 }),
        done(evil, { output_index: 1 }),
        end(fine, evil),
      ],
    ],
    [
      'two items with one id',
      [
        added(item('i', 'c1', EVIL)),
        added(item('i', 'c2', FINE)),
        done(item('i', 'c1', EVIL)),
        done(item('i', 'c2', FINE)),
        end(item('i', 'c1', EVIL), item('i', 'c2', FINE)),
      ],
    ],
    ['an end without output', [added(evil), done(evil), end()]],
    ['a call of another kind', [added({ type: 'custom_tool_call', call_id: 'c', name: 'bash', input: EVIL }), end()]],
    ['a shell call', [done({ type: 'local_shell_call', call_id: 'c', action: { command: ['evil'] } }), end()]],
  ])('%s', async ([, events]) => {
    named(events);
    expectSafe(await ask.responses());
  });

  it('keeps the call beside a blocked one whole', async () => {
    named([added(fine), done(fine), added(evil), done(evil), end(fine, evil)]);
    const { text } = await ask.responses();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);
    const last = events.at(-1) as { response: { output: Json[] } };
    expect(last.response.output).toMatchObject([{ call_id: 'c2', arguments: FINE }, { type: 'message' }]);
    expect(
      events.filter(({ type }) => type === 'response.output_item.done').map((event) => event.output_index),
    ).toEqual([0, 1]);
  });

  it('whole answers', async () => {
    json({ object: 'response', id: 'r', status: 'completed', output: [item('i', 'c1', EVIL), item('i', 'c2', FINE)] });
    expectSafe(await ask.responses(false));
    json({
      object: 'response',
      id: 'r',
      status: 'completed',
      output: [{ type: 'shell_call', action: { commands: ['evil'] } }],
    });
    expectSafe(await ask.responses(false));
  });
});

describe('Messages', () => {
  const start = (content: Json[] = []): Json => ({
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', content },
  });
  const block = (index: number | undefined, id: string, text: string): Json[] => [
    { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: 'bash', input: {} } },
    { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } },
    { type: 'content_block_stop', index },
  ];
  const end: Json[] = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }];

  it.for<[string, Json[]]>([
    ['no index', [start(), ...block(undefined, 'a', EVIL), ...end]],
    ['the same index twice', [start(), ...block(0, 'a', EVIL), ...block(0, 'b', FINE), ...end]],
    [
      'a call before its block',
      [start([{ type: 'tool_use', id: 'a', name: 'bash', input: { command: 'evil' } }]), ...end],
    ],
    [
      'the input in the first event',
      [
        start(),
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'a', name: 'bash', input: { command: 'evil' } },
        },
        ...end,
      ],
    ],
    [
      'two ends',
      [start(), ...block(0, 'a', EVIL), { type: 'message_delta', delta: {}, usage: { output_tokens: 3 } }, ...end],
    ],
    [
      'a beginning without its block, for the index of a call',
      [
        start(),
        ...block(0, 'a', EVIL).slice(0, 2),
        { type: 'content_block_start', index: 0 },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: EVIL } },
        ...end,
      ],
    ],
    [
      'a kind of call that nobody knows',
      [
        start(),
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'quantum_tool_use', id: 'a', input: { command: 'evil' } },
        },
        ...end,
      ],
    ],
  ])('%s', async ([, events]) => {
    named(events);
    expectSafe(await ask.messages());
  });
});

describe('Chat Completions', () => {
  const chunk = (delta: Json | null, more: Json = {}): Json => ({
    id: 'c',
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  });
  const call = (index: number, id: string, text: string): Json => ({
    index,
    id,
    type: 'function',
    function: { name: 'bash', arguments: text },
  });
  const end = chunk({}, { finish_reason: 'tool_calls' });

  it.for<[string, Json[]]>([
    [
      'the form of 2023',
      [chunk({ function_call: { name: 'bash', arguments: EVIL } }), chunk({}, { finish_reason: 'function_call' })],
    ],
    ['a second answer', [{ choices: [{ index: 1, delta: { tool_calls: [call(0, 'a', EVIL)] } }] }, end]],
    [
      'two answers in a chunk',
      [
        {
          choices: [
            { index: 0, delta: { content: 'x' } },
            { index: 1, delta: { tool_calls: [call(0, 'a', EVIL)] } },
          ],
        },
        end,
      ],
    ],
    [
      'a message in a stream',
      [{ choices: [{ index: 0, message: { tool_calls: [call(0, 'a', EVIL)] }, finish_reason: 'tool_calls' }] }],
    ],
    [
      'a message beside a delta',
      [{ choices: [{ index: 0, delta: { content: 'x' }, message: { tool_calls: [call(0, 'a', EVIL)] } }] }, end],
    ],
    ['calls after the end', [end, chunk({ tool_calls: [call(0, 'a', EVIL)] })]],
    [
      'one index for every call',
      [chunk({ tool_calls: [call(0, 'a', FINE)] }), chunk({ tool_calls: [call(0, 'b', EVIL)] }), end],
    ],
  ])('%s', async ([, events]) => {
    chunks(...events);
    expectSafe(await ask.chat());
  });

  it('tells calls apart that share an index', async () => {
    chunks(chunk({ tool_calls: [call(0, 'a', FINE)] }), chunk({ tool_calls: [call(0, 'b', FINE)] }), end);
    await ask.chat();
    expect(
      rig.store.toolCall
        .list()
        .map(({ callId, arguments: text }) => [callId, text])
        .sort(),
    ).toEqual([
      ['a', FINE],
      ['b', FINE],
    ]);
  });

  it('reads null where others leave out', async () => {
    chunks(chunk({ content: 'Yes.', tool_calls: null, reasoning: null }), chunk(null, { finish_reason: 'stop' }), {
      choices: null,
      usage: { prompt_tokens: 1, completion_tokens: 1 },
      error: null,
    });
    const reply = await ask.chat();
    expect([reply.status, reply.text.endsWith('data: [DONE]\n\n'), reply.text.includes('Yes.')]).toEqual([
      200,
      true,
      true,
    ]);
    expect(rig.store.request.list()[0]).toMatchObject({ status: 'ok', promptTokens: 1 });
  });

  it('is done after the last event, whether the connection stays open or breaks', async () => {
    const text =
      'data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    for (const after of [
      (): void => undefined,
      (response: ServerResponse): void => void setTimeout(() => response.destroy(), 20),
    ]) {
      respond = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text);
        after(response);
      };
      expect((await ask.chat()).text).toBe(text);
    }
  });
});

it('waits for a harness that reads slowly instead of holding the answer for it', async () => {
  const piece = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(50_000)}"}}]}\n\n`;
  let sent = 0;
  respond = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const pump = (): void => {
      while (sent < 4000 && response.write(piece)) sent++;
      if (sent < 4000) response.once('drain', pump);
      sent++;
    };
    pump();
  };
  const { request } = await import('node:http');
  const outgoing = request({
    host: '127.0.0.1',
    port: rig.port,
    method: 'POST',
    path: '/pi/v1/chat/completions',
    headers: { authorization: `Bearer ${rig.token}`, 'content-type': 'application/json' },
  });
  outgoing.end(JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }));
  outgoing.on('response', (response) => response.pause()).on('error', () => undefined);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  // Of 200 MB only what the sockets and streams buffer.
  expect(sent).toBeGreaterThan(5);
  expect(sent * piece.length).toBeLessThan(40e6);
  outgoing.destroy();
});

describe('addresses', () => {
  it.for([
    '//chat/completions',
    '/%63hat/completions',
    '/Chat/completions',
    '/v1/messages',
    '/completion',
    '/infill',
    '/fim/completions',
    '/deployments/x/chat/completions',
    '/models/x:generateContent',
    '/threads/t/runs',
    '/api/chat',
  ])('POST %s is no way round the guard', async (path) => {
    json({ tool_calls: 'evil' });
    expect([403, 404]).toContain((await rig.post(`/pi/v1${path}`, {})).status);
    expect(urls).toEqual([]);
  });

  it('no stream comes over another address', async () => {
    sse('data: evil\n\n');
    expect(
      (await http({ port: rig.port }, 'GET', '/pi/v1/models', null, { authorization: `Bearer ${rig.token}` })).status,
    ).toBe(403);
  });

  it('keys in the query stay here', async () => {
    json({ choices: [{ message: { content: 'Yes.' }, finish_reason: 'stop' }] });
    await rig.post('/pi/v1/chat/completions?key=a&beta=true&api_key=b&token=c', {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(urls).toEqual(['/v1/chat/completions?beta=true']);
  });
});

it('a request that is not open takes no other with it, and its failure can still be recorded', async () => {
  const guard = { checkResponse: () => [] };
  const settler = new DirectSettler(rig.recorder, guard);
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }));
  await settler.open('req_a', 'chat', body, null, 'user');
  const entry = (id: string, status: 'ok' | 'error'): Parameters<typeof settler.recordAll>[0][number] => ({
    id,
    createdAt: 1,
    session: { harness: 'pi', origin: 'user', rolloutId: null, title: '', workerKey: null, harnessSessionId: id },
    api: 'chat',
    stream: false,
    model: 'm',
    adapterHash: null,
    upstream: null,
    sampling: {},
    promptTokens: 0,
    completionTokens: 0,
    finish: 'stop',
    status,
    error: null,
    firstTokenMs: null,
    durationMs: 1,
    synthetic: false,
    answer: null,
    tokens: { promptIds: [], completionIds: [], logprobs: [] },
    toolCalls: [],
    verdicts: [],
  });
  const [lost, kept] = settler.recordAll([entry('req_none', 'ok'), entry('req_a', 'ok')]);
  expect(lost).toBeInstanceOf(Error);
  expect(kept).toMatchObject({ id: 'req_a' });
  await settler.open('req_b', 'chat', body, null, 'user');
  const wrong = { ...entry('req_b', 'ok'), promptTokens: -1 };
  expect(settler.recordAll([wrong])[0]).toBeInstanceOf(Error);
  expect(settler.recordAll([entry('req_b', 'error')])[0]).toMatchObject({ id: 'req_b', status: 'error' });
  await expect(settler.record(entry('req_b', 'error'))).rejects.toThrow('not open');
});
