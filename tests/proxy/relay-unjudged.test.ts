/** Upstream servers that say a thing twice, in two ways, or in two places: what is judged is all that any client can read. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_WORDS } from '../../main/proxy/dialects/collected.js';
import { DIALECTS } from '../../main/proxy/dialects/dialect.js';
import { FAILURE_LIMIT } from '../../main/proxy/failure-breaker.js';
import { MAX_STREAM_BYTES, readEvents } from '../../main/proxy/relay/receive.js';
import { SseReader } from '../../main/proxy/relay/sse-reader.js';
import { UPSTREAMS_SETTING } from '../../main/proxy/upstream-setting.js';
import { BASH, http, type Reply, type Rig, startRig } from './support.js';

type Json = Record<string, unknown>;
let rig: Rig;
let respond: (response: ServerResponse, body: string) => void;
let close: () => void;

beforeEach(async () => {
  rig = await startRig();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => respond(response, Buffer.concat(chunks).toString()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env.TEST_UPSTREAM_KEY = 'sk-upstream';
  rig.store.setSetting(UPSTREAMS_SETTING, {
    pi: {
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      apiKeyEnv: 'TEST_UPSTREAM_KEY',
    },
  });
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

const sse = (text: string): void => {
  respond = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
};
const json = (value: unknown, status = 200): void => {
  respond = (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};
const eventText = (event: Json, name: unknown): string =>
  `${name === null ? '' : `event: ${String(name)}\n`}data: ${JSON.stringify(event)}\n\n`;
const named = (events: Json[]): void => sse(events.map((event) => eventText(event, event.type)).join(''));
const chunks = (events: Json[]): void =>
  sse(`${events.map((event) => eventText(event, null)).join('')}data: [DONE]\n\n`);
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
/** Escaped once more, as it stands in an event. */
const inside = (text: string): string => JSON.stringify(text).slice(1, -1);

/** No call arrived that the guard blocks. */
function expectJudged(reply: Reply): void {
  expect(reply.text).not.toContain(inside(EVIL));
  expect(reply.text).not.toContain('"command":"evil"');
  expect([200, 502]).toContain(reply.status);
}

/** The answer was refused, before or after its beginning. */
function expectRefused(reply: Reply): void {
  expect(reply.text).toMatch(/"error"/);
  expect(reply.text).not.toContain('evil');
  expect(rig.store.request.list()[0]).toMatchObject({ status: 'error' });
}

const chunk = (delta: Json | null, finish: string | null = null): Json => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

describe('lines of a stream', () => {
  const call = { index: 0, id: 'a', type: 'function', function: { name: 'bash', arguments: EVIL } };
  const rest = `${eventText(chunk({}, 'stop'), null)}data: [DONE]\n\n`;

  it.each(['ï»¿', ' ', 'x', '\ufeff\ufeff', 'Data: x\nx'])(
    'after %j no data goes on that nobody read',
    async (before) => {
      sse(`${before}${eventText(chunk({ tool_calls: [call] }), null)}${rest}`);
      expectJudged(await ask.chat());
      expect((await ask.chat()).text).not.toContain('tool_calls');
    },
  );

  it('no document goes on as a stream', async () => {
    sse(
      `${JSON.stringify({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] })}\n\n${rest}`,
    );
    expect((await ask.chat()).text).not.toContain('tool_calls');
  });

  it('keeps every byte of comments, fields and the mark at the beginning', () => {
    const text = '\ufeff: ä\r\nid: 1\nretry: 3\r\nevent: é\ndata\ndata:  x\n\n';
    const [event] = new SseReader().push(Buffer.from(text));
    expect([event?.raw.toString(), event?.name, event?.data]).toEqual([text, 'é', '\n x']);
    const [cut] = new SseReader().push(Buffer.from('\ufeffdatas: a\r\ndata: ä\r\n\r\n'));
    expect([cut?.raw.toString(), cut?.data]).toEqual(['\ufeffdata: ä\r\n\r\n', 'ä']);
  });
});

describe('Responses', () => {
  const item = (args: string | undefined, more: Json = {}): Json => ({
    id: 'i1',
    type: 'function_call',
    call_id: 'c1',
    name: 'bash',
    arguments: args,
    ...more,
  });
  const place = { output_index: 0, item_id: 'i1' };
  const added = (one: Json, at = 0): Json => ({ type: 'response.output_item.added', output_index: at, item: one });
  const done = (one: Json, at = 0): Json => ({ type: 'response.output_item.done', output_index: at, item: one });
  const delta = (text: string, more: Json = {}): Json => ({
    type: 'response.function_call_arguments.delta',
    ...place,
    delta: text,
    ...more,
  });
  const argued = (text: string): Json => ({ type: 'response.function_call_arguments.done', ...place, arguments: text });
  const end = (...output: Json[]): Json => ({
    type: 'response.completed',
    response: { id: 'resp_1', status: 'completed', output },
  });
  const begin = [added(item('')), delta(FINE), argued(FINE)];

  it.for<[string, Json[]]>([
    ['a call that is done twice', [...begin, done(item(EVIL)), done(item(FINE)), end(item(FINE))]],
    ['a call that is done twice, the evil one last', [...begin, done(item(FINE)), done(item(EVIL)), end(item(FINE))]],
    ['arguments that change at their end', [added(item('')), delta(FINE), argued(EVIL), done(item(undefined)), end()]],
    ['an item that changes its arguments', [added(item('')), delta(EVIL), argued(EVIL), done(item(FINE)), end()]],
    ['pieces after the arguments were done', [...begin, delta(EVIL), done(item(FINE)), end()]],
    ['pieces in the beginning', [added(item(EVIL)), delta(FINE), done(item(FINE)), end()]],
    [
      'pieces for the wrong call',
      [added(item('')), added(item('', { id: 'i2', call_id: 'c2' }), 1), delta(EVIL), end()],
    ],
    ['a call in the first event', [{ type: 'response.created', response: { id: 'r', output: [item(EVIL)] } }, end()]],
    ['a call after the end', [end(), done(item(EVIL))]],
    [
      'a document and an event at once',
      [
        { object: 'response', status: 'completed', output: [], type: 'response.output_item.done', item: item(EVIL) },
        end(),
      ],
    ],
  ])('%s', async ([, events]) => {
    named(events);
    expectJudged(await ask.responses());
  });

  it('writes a call anew whose name changes, so that what was judged is what arrives', async () => {
    named([added(item('')), delta(FINE), done(item(FINE, { name: 'read' })), end(item(FINE, { name: 'read' }))]);
    const { text } = await ask.responses();
    expect(text).toContain('"name":"read"');
    expect(text).not.toContain('"name":"bash"');
    expect(rig.store.toolCall.list().map(({ name }) => name)).toEqual(['read']);
  });

  it.for<[string, Json[]]>([
    [
      'a piece after another item began',
      [added(item('')), added(item('', { id: 'i2', call_id: 'c2' }), 1), delta(FINE), done(item(FINE))],
    ],
    ['a place that is used again', [...begin, done(item(FINE)), added(item('', { id: 'i2', call_id: 'c2' }))]],
  ])('writes calls anew: %s', async ([, events]) => {
    named([...events, end()]);
    const { text } = await ask.responses();
    const calls = [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data]) => {
      const event = JSON.parse(data!) as { type: string; output_index: number; item: Json };
      return event.type === 'response.output_item.done' ? [[event.output_index, event.item.call_id]] : [];
    });
    expect(calls).toEqual([
      [0, 'c1'],
      [1, 'c2'],
    ]);
  });

  it('passes what is regular byte for byte', async () => {
    const events = [...begin, done(item(FINE)), end(item(FINE))];
    named(events);
    expect((await ask.responses()).text).toBe(events.map((event) => eventText(event, event.type)).join(''));
  });

  it('takes nothing for a document that is an event, or the other way round', async () => {
    json({
      object: 'x',
      type: 'response.completed',
      response: { status: 'completed', output: [] },
      output: [item(EVIL)],
    });
    expectRefused(await ask.responses(false));
  });
});

describe('Messages', () => {
  const start = { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [] } };
  const block = (index: number, more: Json = {}): Json => ({
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: `t${index}`, name: 'bash', input: {}, ...more },
  });
  const piece = (index: number, text: string, type = 'input_json_delta'): Json => ({
    type: 'content_block_delta',
    index,
    delta: { type, partial_json: text },
  });
  const stop = (index: number): Json => ({ type: 'content_block_stop', index });
  const end = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }];
  const half = EVIL.slice(0, 14);

  it.for<[string, Json[]]>([
    ['a piece for no block', [block(0), piece(0, half), piece(7, 'x'), piece(0, EVIL.slice(14)), stop(0)]],
    [
      'a piece of another kind',
      [block(0), piece(0, half), piece(0, 'x', 'text_delta'), piece(0, EVIL.slice(14)), stop(0)],
    ],
    ['a piece after the end of its block', [block(0), piece(0, FINE), stop(0), piece(0, EVIL)]],
    [
      'text in a piece of a call',
      [block(0), { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', text: EVIL } }, stop(0)],
    ],
    ['a block inside another event', [{ ...block(0), type: 'ping' }, piece(0, EVIL)]],
    ['input that is no object', [block(0, { input: EVIL }), stop(0)]],
  ])('%s', async ([, events]) => {
    named([start, ...events, ...end]);
    expectRefused(await ask.messages());
  });

  it('writes a call anew whose pieces do not all have the name that clients look for', async () => {
    const hidden = eventText(piece(0, 'x'), 'ping');
    const parts = [start, block(0), piece(0, half), null, piece(0, EVIL.slice(14)), stop(0), ...end];
    sse(parts.map((event) => (event === null ? hidden : eventText(event, event.type))).join(''));
    const { text } = await ask.messages();
    const pieces = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as { delta?: Json });
    const [call] = rig.store.toolCall.list();
    expect(pieces.flatMap(({ delta }) => delta?.partial_json ?? [])).toEqual([call?.arguments]);
  });

  it('writes calls anew that stand at another place than their index says', async () => {
    named([start, block(1), block(0, { name: 'read' }), piece(0, FINE), stop(0), stop(1), ...end]);
    const { text } = await ask.messages();
    const begun = [...text.matchAll(/^data: (.*content_block_start.*)$/gm)].map(
      ([, data]) => JSON.parse(data!) as { index: number; content_block: Json },
    );
    expect(begun.map(({ index, content_block: { name } }) => [index, name])).toEqual([
      [0, 'bash'],
      [1, 'read'],
    ]);
  });

  it('takes nothing for a document that is an event, or the other way round', async () => {
    const content = [{ type: 'tool_use', id: 'a', name: 'bash', input: { command: 'evil' } }];
    json({ type: 'x', delta: { stop_reason: 'end_turn' }, content });
    expectRefused(await ask.messages(false));
    named([start, { type: 'message', content, stop_reason: 'tool_use' }, ...end]);
    expectRefused(await ask.messages());
  });
});

describe('Chat Completions', () => {
  const piece = (args: string, more: Json = {}, name?: string): Json => ({
    index: 0,
    ...more,
    function: { ...(name && { name }), arguments: args },
  });
  const calls = (...all: Json[]): Json => chunk({ tool_calls: all });
  const end = chunk({}, 'tool_calls');

  it('takes calls of a document that share an id apart', async () => {
    const call = (args: string): Json => ({ id: 'a', type: 'function', function: { name: 'bash', arguments: args } });
    json({ choices: [{ message: { tool_calls: [call(FINE), call(EVIL)] }, finish_reason: 'tool_calls' }] });
    const reply = await ask.chat(false);
    expectJudged(reply);
    expect(reply.text).toContain('blocked call');
    expect(
      rig.store.toolCall
        .list()
        .map((one) => one.arguments)
        .sort(),
    ).toEqual([EVIL, FINE].sort());
  });

  it.for<[string, Json[]]>([
    [
      'another id in the middle of a call',
      [calls(piece(FINE.slice(0, 5), { id: 'a' }, 'bash')), calls(piece(FINE.slice(5), { id: 'b' }))],
    ],
    ['a name in pieces', [calls(piece('', { id: 'a' }, 'ba')), calls(piece(FINE, {}, 'sh'))]],
    ['a name twice', [calls(piece('', { id: 'a' }, 'bash')), calls(piece(FINE, {}, 'bash'))]],
    ['a name that comes late', [calls(piece('', { id: 'a' })), calls(piece(FINE, {}, 'bash'))]],
    [
      'words in the middle of a call',
      [calls(piece(FINE.slice(0, 5), { id: 'a' }, 'bash')), chunk({ content: 'x' }), calls(piece(FINE.slice(5)))],
    ],
  ])('%s: the call goes on in one piece', async ([, events]) => {
    chunks([...events, end]);
    const { text } = await ask.chat();
    const all = [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(
      ([, data]) =>
        (JSON.parse(data!) as { choices: { delta: { tool_calls?: Json[] } }[] }).choices[0]?.delta.tool_calls ?? [],
    );
    expect(all).toEqual([{ index: 0, id: 'a', type: 'function', function: { name: 'bash', arguments: FINE } }]);
    expect(rig.store.toolCall.list()).toMatchObject([{ name: 'bash', arguments: FINE }]);
  });

  it('writes calls anew whose pieces are interleaved or come after the end', async () => {
    const other = { index: 1, id: 'b', function: { name: 'read', arguments: FINE } };
    for (const events of [
      [calls(piece(FINE.slice(0, 5), { id: 'a' }, 'bash')), calls(other), calls(piece(FINE.slice(5))), end],
      [end, calls(piece(FINE, { id: 'a' }, 'bash')), calls(other)],
    ]) {
      chunks(events);
      const { text } = await ask.chat();
      expect(text.match(/"tool_calls":/g)).toHaveLength(1);
      expect(text.split(inside(FINE))).toHaveLength(3);
    }
  });

  it.each([true, false])('refuses a call of a kind that it cannot judge (stream: %s)', async (stream) => {
    const call = { index: 0, id: 'a', type: 'custom', custom: { name: 'bash', input: 'evil' } };
    if (stream) chunks([calls(call), end]);
    else json({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] });
    expectRefused(await ask.chat(stream));
  });

  it('reads no further than clients do', async () => {
    sse(
      `${eventText(calls(piece(EVIL, { id: 'a' }, 'bash')), null)}${eventText(end, null)}data: [DONE]\n\n${eventText(calls(piece('x')), null)}`,
    );
    const { text } = await ask.chat();
    expectJudged({ status: 200, headers: {}, text });
    expect(text).toContain('blocked call');
  });
});

describe('limits of one answer', () => {
  it.each(['chat', 'responses', 'messages'] as const)('words of %s', (api) => {
    const collector = DIALECTS[api].collector({ text: () => undefined, reasoning: () => undefined });
    const text = 'x'.repeat(1024 * 1024);
    const event = {
      chat: chunk({ content: text }),
      responses: { type: 'response.output_text.delta', delta: text },
      messages: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    }[api];
    const data = JSON.stringify(event);
    for (let n = 0; n < MAX_WORDS / text.length; n++) collector.event(data, null);
    expect(() => collector.event(data, null)).toThrow('more than 64 MB');
  });

  it('a stream without end', { timeout: 60_000 }, async () => {
    const comments = Buffer.from(`: ${'x'.repeat(16 * 1024 * 1024 - 4)}\n\n`);
    const body = Readable.from(
      (function* () {
        for (let bytes = 0; bytes <= MAX_STREAM_BYTES; bytes += comments.length) yield comments;
      })(),
    );
    await expect(
      readEvents(
        body,
        () => false,
        () => undefined,
      ),
    ).rejects.toThrow('more than 512 MB');
  });
});

describe('errors of other addresses', () => {
  it.each([401, 302])('do not tell the key (%i)', async (status) => {
    respond = (response) =>
      void response
        .writeHead(status, { 'content-type': 'application/json', 'x-asked-with': 'Bearer sk-upstream', 'x-kept': '1' })
        .end('{"error":"no such key: sk-upstream"}');
    const headers = { authorization: `Bearer ${rig.token}` };
    const reply = await http({ port: rig.port }, 'GET', '/pi/v1/models', null, headers);
    expect(reply.status).toBe(status === 302 ? 502 : status);
    expect(JSON.stringify(reply)).not.toContain('sk-upstream');
    if (status === 401) expect([reply.text, reply.headers['x-kept']]).toEqual(['{"error":"no such key: [key]"}', '1']);
  });

  it('are dropped where nobody can look for the key in them', async () => {
    respond = (response) =>
      void response.writeHead(401, { 'content-encoding': 'gzip' }).end(Buffer.from('sk-upstream, as it were packed'));
    const headers = { authorization: `Bearer ${rig.token}` };
    const reply = await http({ port: rig.port }, 'GET', '/pi/v1/models', null, headers);
    expect([reply.status, reply.text.includes('packed')]).toEqual([401, false]);
  });
});

it('a conversation that fails does not shut out another that begins with the same long instructions', async () => {
  const messages = (text: string): Json[] => [
    { role: 'system', content: 'Be brief. '.repeat(1000) },
    { role: 'user', content: text },
  ];
  respond = (response, body) => {
    if (body.includes('too long')) response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
    else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices: [{ message: { content: 'Yes.' }, finish_reason: 'stop' }] }));
  };
  for (let n = 0; n < FAILURE_LIMIT; n++)
    expect((await rig.chat({ messages: messages('too long'), max_tokens: n + 1 })).status).toBe(400);
  expect((await rig.chat({ messages: messages('too long') })).status).toBe(403);
  expect((await rig.chat({ messages: messages('short') })).status).toBe(200);
});
