/**
 * Whatever becomes of the server behind the gateway, an answer that has begun ends with an event that says so, in every API; one that has
 * not is an error of HTTP. Harnesses that are left without either ask for ever.
 */
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import type { Api } from '../../main/proxy/dialects/dialect.js';
import { UPSTREAMS_SETTING } from '../../main/proxy/upstream-setting.js';
import { chatEvents } from '../harness/real/chat-events.js';
import { messagesEvents } from '../harness/real/messages-events.js';
import { type Event, eventText, type Said } from '../harness/real/reply.js';
import { responsesEvents } from '../harness/real/responses-events.js';
import { BASH, type Reply, type Rig, startRig } from './support.js';

const APIS: Api[] = ['chat', 'responses', 'messages'];
const EVENTS: Record<Api, (said: Said) => Event[]> = {
  chat: (said) => chatEvents(said, FRAME),
  responses: (said) => responsesEvents(said, FRAME),
  messages: (said) => messagesEvents(said, FRAME),
};
const FRAME = { n: 1, model: 'm', includeUsage: true };
const WORDS: Said = { text: 'These words are cut off before they have come to their end.' };
const CALL: Said = { calls: [{ id: 'call_1', name: 'bash', arguments: { command: 'echo a command of some length' } }] };
const input = [{ role: 'user', content: 'Go.' }];
const tool = { name: 'bash', parameters: BASH.function.parameters };
const ASKED: Record<Api, [path: string, body: object]> = {
  chat: ['chat/completions', { messages: input, tools: [BASH] }],
  responses: ['responses', { input, tools: [{ type: 'function', ...tool }] }],
  messages: ['messages', { max_tokens: 9, messages: input, tools: [{ name: 'bash', input_schema: tool.parameters }] }],
};

/** How the server ends an answer of which `halfOf` was sent. */
const ENDS: Record<string, (response: ServerResponse) => void> = {
  'the stream ends early': (response) => response.end(),
  'the connection breaks': (response) => void setTimeout(() => response.destroy(), 50),
  'nothing more comes': () => undefined,
  'an event is no JSON': (response) => response.end('data: {"half\n\n'),
  'an event never ends': (response) => response.end('data: {"choices":[{"del'),
};

let rig: Rig;
let respond: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  request.resume().once('end', () => respond(response));
});
beforeEach(async () => {
  rig = await startRig({ upstreamHeadersMs: 1500, upstreamIdleMs: 1500 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  route((server.address() as AddressInfo).port);
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rig.close();
});

function route(port: number): void {
  rig.store.setSetting(UPSTREAMS_SETTING, { pi: { baseUrl: `http://127.0.0.1:${port}/v1` } });
}

const stream = (api: Api): Promise<Reply> =>
  rig.post(`/pi/v1/${ASKED[api][0]}`, { model: 'm', stream: true, ...ASKED[api][1] });

/** The type of the last event, as clients of the API read it; throws for a stream that just stops. */
function lastEvent(api: Api, text: string): unknown {
  expect(text.endsWith('\n\n')).toBe(true);
  const last = text.trimEnd().split('\n\n').at(-1)!;
  const data = JSON.parse(last.slice(last.indexOf('data: ') + 6)) as { type?: string; error?: { message: string } };
  return api === 'chat' ? (data.error ? 'error' : data) : data.type;
}

describe.each(APIS)('%s', (api) => {
  it.each(Object.keys(ENDS))('ends with an error when %s, after words and inside a call', async (how) => {
    for (const said of [WORDS, CALL]) {
      const events = EVENTS[api](said);
      respond = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(
          events
            .slice(0, Math.ceil(events.length / 2))
            .map(eventText)
            .join(''),
        );
        ENDS[how]!(response);
      };
      const reply = await stream(api);
      expect([how, reply.status < 400 ? lastEvent(api, reply.text) : 'error']).toEqual([how, 'error']);
      // Of a call that was not seen whole nothing is served.
      expect(reply.text).not.toContain('echo');
    }
  });

  it('says that a server is down, in words that make a harness ask again', async () => {
    const taken = createTcpServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    await new Promise((resolve) => taken.close(resolve));
    route(port);
    await rig.call('routes.reload');
    const reply = await stream(api);
    expect([reply.status, reply.text]).toEqual([502, expect.stringMatching(/Connection error: .*did not answer/)]);
  });

  it('hands on that the conversation is too long, as the server says it', async () => {
    const body = JSON.stringify({ error: { type: 'exceed_context_size_error', n_ctx: 32 } });
    respond = (response) => response.writeHead(400, { 'content-type': 'application/json' }).end(body);
    const reply = await stream(api);
    expect([reply.status, reply.text]).toEqual([400, body]);
  });

  it.each([
    ['CONTEXT_FULL', 400, /exceeds the context window/],
    ['SERVICE_GONE', 503, /temporarily unavailable/],
  ] as const)('says so when the engine answers with %s', async (code, status, words) => {
    rig.store.setSetting(UPSTREAMS_SETTING, {});
    await rig.call('routes.reload');
    rig.engine.script({ error: new TackroomError(code, 'It cannot go on.') });
    const reply = await stream(api);
    expect([reply.status, reply.text]).toEqual([status, expect.stringMatching(words)]);
  });
});
