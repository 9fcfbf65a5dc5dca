/** An upstream server that speaks the harness's own API: what passes untouched, and how a blocked call goes, in all six forms. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UPSTREAMS_SETTING, type UpstreamSetting } from '../../main/proxy/upstream-setting.js';
import { BASH, http, type Reply, type Rig, startRig } from './support.js';

type Json = Record<string, unknown>;
interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

const NOTICE = '[tackroom] blocked call to `bash`: It is evil.';
let rig: Rig;
let asked: Asked[];
let respond: (response: ServerResponse, request: IncomingMessage) => void;
let close: () => void;
let route: (more: Partial<NonNullable<UpstreamSetting['pi']>>) => Promise<void>;

beforeEach(async () => {
  rig = await startRig();
  asked = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    asked.push({
      method: request.method!,
      url: request.url!,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    });
    respond(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  process.env.TEST_UPSTREAM_KEY = 'sk-upstream';
  route = async (more) => {
    rig.store.setSetting(UPSTREAMS_SETTING, { pi: { baseUrl, apiKeyEnv: 'TEST_UPSTREAM_KEY', ...more } });
    await rig.call('routes.reload');
  };
  await route({});
  close = () => {
    server.closeAllConnections();
    server.close();
  };
});
afterEach(async () => {
  close();
  delete process.env.TEST_UPSTREAM_KEY;
  await rig.close();
});

/** Sends `text` in pieces of `size` bytes. */
const sending =
  (text: string, size = 11): typeof respond =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'r1', 'set-cookie': 'a=b' });
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
    response.end();
  };
const document =
  (value: unknown): typeof respond =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
const unnamed = (events: Json[]): string =>
  `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
const named = (events: Json[]): string =>
  events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const dataOf = (text: string): Json[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);

const tools = [{ name: 'bash', input_schema: BASH.function.parameters }];
const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools: [BASH] };
const messages = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], tools };
const responses = { model: 'm', input: 'Hi', tools: [{ type: 'function', ...BASH.function }] };

describe('Chat Completions', () => {
  const chunk = (delta: Json, more: Json = {}): Json => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  });
  const call = (index: number, command: string): Json => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name: 'bash', arguments: JSON.stringify({ command }) },
  });
  const stream = (...calls: Json[]): string =>
    unnamed([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Löok.' }, { logprobs: { content: [{ token: 'L' }] } }),
      ...calls.map((one) => chunk({ tool_calls: [one] }, { logprobs: { content: [{ token: 'x' }] }, token_ids: [5] })),
      chunk({}, { finish_reason: 'tool_calls' }),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    ]);

  it('passes every byte, whatever the pieces, and only then has the harness its last one', async () => {
    for (const size of [1, 7, 1000]) {
      respond = sending(stream(call(0, 'ls'), call(1, 'pwd')), size);
      const reply = await rig.chat({ ...chat, stream: true });
      expect(reply.text).toBe(stream(call(0, 'ls'), call(1, 'pwd')));
      expect(reply.headers).toMatchObject({ 'x-request-id': 'r1' });
      expect(reply.headers['set-cookie']).toBeUndefined();
    }
    expect(rig.store.request.count()).toBe(3);
  });

  it('takes one of two calls out and keeps the log-probabilities', async () => {
    respond = sending(stream(call(0, 'evil'), call(1, 'pwd')));
    const { text } = await rig.chat({ ...chat, stream: true });
    const chunks = dataOf(text) as {
      choices: { delta: Json; finish_reason: string | null; logprobs?: unknown; token_ids?: number[] }[];
    }[];
    const calls = chunks.flatMap(({ choices }) => (choices[0]?.delta.tool_calls as Json[] | undefined) ?? []);
    expect(calls).toEqual([{ ...call(1, 'pwd'), index: 0 }]);
    expect(chunks.filter(({ choices }) => choices[0]?.token_ids).length).toBe(2);
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['tool_calls']);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(`Löok.\n\n${NOTICE}`);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text).not.toContain('evil"');
  });

  it('ends the turn when no call is left, in both forms', async () => {
    respond = sending(stream(call(0, 'evil')));
    const chunks = dataOf((await rig.chat({ ...chat, stream: true })).text) as {
      choices: { finish_reason: string | null }[];
    }[];
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop']);
    const whole = {
      id: 'c1',
      model: 'up',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, tool_calls: [call(0, 'evil')] },
          logprobs: { content: [1] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      prompt_token_ids: [1, 2],
    };
    respond = document(whole);
    expect(JSON.parse((await rig.chat(chat)).text)).toEqual({
      ...whole,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: NOTICE },
          logprobs: { content: [1] },
          finish_reason: 'stop',
        },
      ],
    });
  });

  it('gives a call that repeats an id of the conversation one of its own', async () => {
    respond = sending(stream(call(0, 'ls')));
    const before = { role: 'assistant', content: null, tool_calls: [call(0, 'ls')] };
    const reply = await rig.chat({
      ...chat,
      stream: true,
      messages: [...chat.messages, before, { role: 'tool', tool_call_id: 'call_0', content: 'a' }],
    });
    expect(reply.text).not.toContain('"call_0"');
    expect(reply.text).toMatch(/"id":"call_[0-9a-f]{18}"/);
  });

  it('sends the body as it came, with the own name of the model where there is one, and the key of the server', async () => {
    respond = sending(stream());
    const body = '{ "model":"m", "messages":[{"role":"user","content":"H\\u00ef"}],"stream":true, "temperature":1.0}';
    const headers = { authorization: `Bearer ${rig.token}`, 'x-session-id': 'ses_1', cookie: 'c=1' };
    await http({ port: rig.port }, 'POST', '/pi/v1/chat/completions', body, headers);
    await route({ model: 'qwen:8b' });
    await http({ port: rig.port }, 'POST', '/pi/v1/chat/completions', body, headers);
    expect(asked[0]!.body).toBe(body);
    expect(asked[1]!.body).toBe(body.replace('"m"', '"qwen:8b"'));
    expect(asked[0]!.headers).toMatchObject({ authorization: 'Bearer sk-upstream', 'x-session-id': 'ses_1' });
    expect(asked[0]!.headers.cookie).toBeUndefined();
    expect(JSON.stringify(rig.store.request.list({}))).not.toMatch(/sk-upstream|Bearer/);
  });
});

describe('Messages', () => {
  const block = (index: number, command: string): Json[] => [
    {
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: `call_${index}`, name: 'bash', input: {} },
    },
    {
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify({ command }).slice(0, 5) },
    },
    {
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify({ command }).slice(5) },
    },
    { type: 'content_block_stop', index },
  ];
  const stream = (...calls: Json[][]): string =>
    named([
      {
        type: 'message_start',
        message: {
          id: 'm1',
          type: 'message',
          role: 'assistant',
          content: [],
          usage: { input_tokens: 5, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Look.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'ping' },
      ...calls.flat(),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    ]);
  const post = (more: Json = {}): Promise<Reply> =>
    rig.post('/pi/v1/messages?beta=true', { ...messages, ...more }, { 'anthropic-version': '2023-06-01' });

  it('passes every byte', async () => {
    respond = sending(stream(block(1, 'ls'), block(2, 'pwd')), 1);
    expect((await post({ stream: true })).text).toBe(stream(block(1, 'ls'), block(2, 'pwd')));
    expect(asked[0]).toMatchObject({
      url: '/v1/messages?beta=true',
      headers: { 'x-api-key': 'sk-upstream', 'anthropic-version': '2023-06-01' },
    });
    expect(asked[0]!.headers.authorization).toBeUndefined();
    expect(rig.store.request.list({})[0]).toMatchObject({ promptTokens: 5, completionTokens: 7, finish: 'tool_calls' });
  });

  it('leaves calls that the server runs as they are, beside one that it judges', async () => {
    const searched = block(2, 'weather').map(
      (event): Json =>
        event.type === 'content_block_start'
          ? { ...event, content_block: { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} } }
          : event,
    );
    respond = sending(stream(block(1, 'ls'), searched));
    expect((await post({ stream: true })).text).toBe(stream(block(1, 'ls'), searched));
    expect(rig.store.toolCall.list({}).map((call) => call.arguments)).toEqual(['{"command":"ls"}']);
    respond = sending(stream(block(1, 'evil'), searched));
    const events = dataOf((await post({ stream: true })).text);
    expect(events.filter(({ index }) => index === 1)).toEqual(searched.map((event) => ({ ...event, index: 1 })));
    expect(JSON.stringify(events)).toContain(NOTICE);
  });

  it('refuses arguments of no call', async () => {
    respond = sending(stream(block(1, 'ls').slice(1)));
    expect((await post({ stream: true })).text).toMatch(/event: error\n.*arguments of no call/);
  });

  it('takes one of two calls out and numbers the blocks anew', async () => {
    respond = sending(stream(block(1, 'evil'), block(2, 'pwd')));
    const events = dataOf((await post({ stream: true })).text);
    expect(
      events
        .filter(({ type }) => type === 'content_block_start')
        .map(({ index, content_block: block }) => [index, (block as Json).type]),
    ).toEqual([
      [0, 'text'],
      [1, 'tool_use'],
      [2, 'text'],
    ]);
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({ delta: { stop_reason: 'tool_use' } });
    expect(JSON.stringify(events)).toContain(NOTICE);
    expect(JSON.stringify(events)).not.toContain('evil\\');
  });

  it('ends the turn when no call is left, in both forms', async () => {
    respond = sending(stream(block(1, 'evil')));
    const events = dataOf((await post({ stream: true })).text);
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 7 },
    });
    const whole = {
      id: 'm1',
      type: 'message',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'tool_use', id: 'call_1', name: 'bash', input: { command: 'evil' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 5, output_tokens: 7 },
    };
    respond = document(whole);
    expect(JSON.parse((await post()).text)).toEqual({
      ...whole,
      content: [whole.content[0], { type: 'text', text: NOTICE }],
      stop_reason: 'end_turn',
    });
  });
});

describe('Responses', () => {
  const message = {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Look.', annotations: [] }],
  };
  const item = (index: number, command: string): Json => ({
    id: `fc_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: `call_${index}`,
    name: 'bash',
    arguments: JSON.stringify({ command }),
  });
  const stream = (...items: Json[]): string => {
    const events: Json[] = [
      { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Look.' },
      { type: 'response.output_item.done', output_index: 0, item: message },
      ...items.flatMap((one, at) => [
        { type: 'response.output_item.added', output_index: at + 1, item: { ...one, arguments: '' } },
        { type: 'response.function_call_arguments.delta', item_id: one.id, output_index: at + 1, delta: one.arguments },
        {
          type: 'response.function_call_arguments.done',
          item_id: one.id,
          output_index: at + 1,
          arguments: one.arguments,
        },
        { type: 'response.output_item.done', output_index: at + 1, item: one },
      ]),
      {
        type: 'response.completed',
        response: {
          id: 'resp_1',
          status: 'completed',
          output: [message, ...items],
          usage: { input_tokens: 5, output_tokens: 7 },
        },
      },
    ];
    return named(events.map((event, at) => ({ ...event, sequence_number: at })));
  };
  const post = (more: Json = {}): Promise<Reply> => rig.post('/pi/v1/responses', { ...responses, ...more });

  it('passes every byte', async () => {
    respond = sending(stream(item(1, 'ls'), item(2, 'pwd')), 1);
    expect((await post({ stream: true })).text).toBe(stream(item(1, 'ls'), item(2, 'pwd')));
    expect(
      rig.store.toolCall
        .list({})
        .map(({ callId }) => callId)
        .sort(),
    ).toEqual(['call_1', 'call_2']);
  });

  it('takes one of two calls out: its item goes, a message comes, everything counts without a gap', async () => {
    respond = sending(stream(item(1, 'evil'), item(2, 'pwd')));
    const events = dataOf((await post({ stream: true })).text);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    expect(added.map(({ output_index: index, item: one }) => [index, (one as Json).type])).toEqual([
      [0, 'message'],
      [1, 'function_call'],
      [2, 'message'],
    ]);
    const last = events.at(-1) as { response: { status: string; output: Json[] } };
    expect(last.response.status).toBe('completed');
    expect(last.response.output.map(({ type }) => type)).toEqual(['message', 'function_call', 'message']);
    expect(JSON.stringify(last.response.output[2])).toContain(NOTICE);
    expect(JSON.stringify(events)).not.toContain('evil\\');
  });

  it('does the same to a whole answer', async () => {
    const whole = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [message, item(1, 'evil')],
      usage: { input_tokens: 5, output_tokens: 7 },
    };
    respond = document(whole);
    const answer = JSON.parse((await post()).text) as { output: Json[] };
    expect(answer).toMatchObject({ id: 'resp_1', status: 'completed', usage: whole.usage });
    expect(answer.output.map(({ type }) => type)).toEqual(['message', 'message']);
    expect(JSON.stringify(answer.output[1])).toContain(NOTICE);
  });
});

describe('a server that speaks another API', () => {
  it('is asked in its own, and answers in that of the harness', async () => {
    await route({ api: 'chat' });
    respond = sending(
      unnamed([
        { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'Yes.' }, finish_reason: null }] },
        {
          id: 'c',
          choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
          usage: { prompt_tokens: 4, completion_tokens: 2 },
        },
      ]),
    );
    const reply = await rig.post('/pi/v1/messages', { ...messages, stream: true });
    expect(asked[0]!.url).toBe('/v1/chat/completions');
    expect(JSON.parse(asked[0]!.body)).toMatchObject({
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [BASH],
      max_tokens: 9,
    });
    expect(dataOf(reply.text).map(({ type }) => type)).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ]);
    expect(dataOf(reply.text).at(-2)).toMatchObject({ usage: { input_tokens: 4, output_tokens: 2 } });
  });

  it('gets a chat as turns that alternate, or as items', async () => {
    const turns = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
      { role: 'user', content: 'And?' },
    ];
    await route({ api: 'messages' });
    respond = document({
      type: 'message',
      content: [{ type: 'text', text: 'Yes.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 4, output_tokens: 2 },
    });
    const reply = await rig.chat({ ...chat, messages: turns });
    expect(JSON.parse(reply.text)).toMatchObject({
      choices: [{ message: { content: 'Yes.' }, finish_reason: 'stop' }],
    });
    expect(JSON.parse(asked[0]!.body)).toMatchObject({
      system: 'Be brief.',
      max_tokens: 8192,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'bash', input: { command: 'ls' } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: 'a.txt' },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools,
    });
    await route({ api: 'responses' });
    respond = document({
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] }],
    });
    await rig.chat({ ...chat, messages: turns });
    expect((JSON.parse(asked[1]!.body) as { input: Json[] }).input).toEqual([
      { type: 'message', role: 'system', content: 'Be brief.' },
      { type: 'message', role: 'user', content: 'Hi' },
      { type: 'function_call', call_id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
      { type: 'message', role: 'user', content: 'And?' },
    ]);
  });

  it('answers a stream with a document, and the harness still gets a stream', async () => {
    respond = document({
      type: 'message',
      content: [{ type: 'text', text: 'Yes.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 4, output_tokens: 2 },
    });
    const reply = await rig.post('/pi/v1/messages', { ...messages, stream: true });
    expect(dataOf(reply.text).at(-1)).toEqual({ type: 'message_stop' });
    respond = (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    expect((await rig.post('/pi/v1/messages', { ...messages, stream: true })).status).toBe(502);
  });
});

describe('other addresses', () => {
  it('go to the server and back as they come', async () => {
    respond = (response) => void response.writeHead(418, { 'content-type': 'text/plain' }).end('teapot');
    const headers = { authorization: `Bearer ${rig.token}` };
    const reply = await http({ port: rig.port }, 'GET', '/pi/v1/models?limit=5', null, headers);
    expect([reply.status, reply.text, asked[0]!.url, asked[0]!.headers.authorization]).toEqual([
      418,
      'teapot',
      '/v1/models?limit=5',
      'Bearer sk-upstream',
    ]);
    await rig.post('/pi/v1/messages/count_tokens', { model: 'm', messages: [] });
    expect(asked[1]).toMatchObject({
      method: 'POST',
      url: '/v1/messages/count_tokens',
      headers: { 'x-api-key': 'sk-upstream' },
    });
    await rig.post('/pi/v1/embeddings', { input: 'a' });
    expect(asked[2]!.url).toBe('/v1/embeddings');
  });

  it('are no way round the guard, out of the server’s folder, or in without the token', async () => {
    respond = document({});
    for (const path of ['completions', 'chat/x', 'responses/resp_1', 'messages/batches', 'batches'])
      expect([path, (await rig.post(`/pi/v1/${path}`, {})).status]).toEqual([path, 403]);
    for (const path of ['../admin', 'a/../../admin', '%2e%2e/admin', 'a%2fb', '..%5cadmin'])
      expect([path, (await rig.post(`/pi/v1/${path}`, {})).status]).toEqual([path, 404]);
    expect((await http({ port: rig.port }, 'GET', '/pi/v1/files', null)).status).toBe(401);
    expect(asked).toEqual([]);
  });

  it('are unknown without a server', async () => {
    rig.store.setSetting(UPSTREAMS_SETTING, {});
    await rig.call('routes.reload');
    expect((await rig.post('/pi/v1/embeddings', {})).status).toBe(404);
  });
});
