/**
 * Damaged requests and answers through a whole gateway: every request is answered or refused, every stream ends with an event that says
 * so, what was answered is stored, and no call that the guard did not see reaches the harness.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../main/proxy/dialects/dialect.js';
import { DIALECTS } from '../../main/proxy/dialects/dialect.js';
import { HttpError } from '../../main/proxy/http-error.js';
import type { Guard } from '../../main/proxy/services.js';
import { BodyReader } from '../../main/proxy/settle/body-reader.js';
import { UPSTREAMS_SETTING } from '../../main/proxy/upstream-setting.js';
import { chainOf } from '../../main/record/message-store.js';
import { damageBytes, damageText, damageValue, jsonText, type Random } from '../engine/tokenizer/fuzz-random.js';
import { fuzz, fuzzCount } from '../support/fuzz.js';
import { BASH, http, type Rig, startRig } from './support.js';

type Json = Record<string, unknown>;
const APIS: Api[] = ['chat', 'responses', 'messages'];
const PATHS: Record<Api, string> = {
  chat: '/pi/v1/chat/completions',
  responses: '/pi/v1/responses',
  messages: '/pi/v1/messages',
};
/** Stands in every call; where the guard blocks all, no harness may see it in one. */
const MARK = 'mark-of-a-call';
const ARGS = JSON.stringify({ command: `echo ${MARK}` });

const REQUESTS: Record<Api, Json> = {
  chat: {
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 100,
    temperature: 1,
    messages: [
      { role: 'system', content: 'S' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'data:,' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'r',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { role: 'user', content: 'Go on' },
    ],
    tools: [BASH],
  },
  responses: {
    model: 'm',
    stream: true,
    instructions: 'S',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'reasoning', id: 'r1', summary: [{ type: 'summary_text', text: 'r' }], encrypted_content: 'x' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A' }] },
      { type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
    ],
    tools: [{ type: 'function', ...BASH.function }],
  },
  messages: {
    model: 'm',
    stream: true,
    max_tokens: 100,
    system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'r', signature: 's' },
          { type: 'text', text: 'A' },
          { type: 'tool_use', id: 'c1', name: 'bash', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'ok' }] }] },
    ],
    tools: [{ name: 'bash', input_schema: BASH.function.parameters }],
  },
};

const delta = (value: Json, finish: string | null = null): Json => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});
const call = { id: 'fc1', type: 'function_call', call_id: 'c9', name: 'bash', arguments: ARGS, status: 'completed' };
const said = { id: 'm1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
const ANSWERS: Record<Api, Json[]> = {
  chat: [
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning_content: 'r' }),
    delta({ content: 'Hi' }),
    delta({ tool_calls: [{ index: 0, id: 'c9', type: 'function', function: { name: 'bash', arguments: '' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: ARGS } }] }),
    delta({}, 'tool_calls'),
    { ...delta({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
  ],
  responses: [
    { type: 'response.created', response: { id: 'r', object: 'response', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...said, content: [] } },
    { type: 'response.output_text.delta', output_index: 0, item_id: 'm1', content_index: 0, delta: 'Hi' },
    { type: 'response.output_item.done', output_index: 0, item: said },
    { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'fc1', delta: ARGS },
    { type: 'response.function_call_arguments.done', output_index: 1, item_id: 'fc1', arguments: ARGS },
    { type: 'response.output_item.done', output_index: 1, item: call },
    {
      type: 'response.completed',
      response: { id: 'r', object: 'response', status: 'completed', output: [said, call], usage: { input_tokens: 3 } },
    },
  ].map((event, at) => ({ ...event, sequence_number: at })),
  messages: [
    { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [], usage: {} } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c9', name: 'bash', input: {} } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: ARGS } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ],
};

/** Damage may have put an object in its place. */
const nameOf = (type: unknown): string => (typeof type === 'string' ? type : (jsonText(type ?? null) ?? 'null'));

function answerOf(api: Api, random: Random): Buffer {
  const events = structuredClone(ANSWERS[api]);
  if (random.chance(0.8)) damageValue(events as never, random);
  if (random.chance(0.1)) events.push(...structuredClone(events.slice(random.below(events.length + 1))));
  const end = random.pick(['\n\n', '\n\n', '\n\n', '\r\n\r\n', '\r\r']);
  let text = events
    .map((event) => `${api === 'chat' ? '' : `event: ${nameOf(event?.type)}\n`}data: ${jsonText(event ?? null)}${end}`)
    .join('');
  if (api === 'chat' && random.chance(0.8)) text += `data: [DONE]${end}`;
  if (random.chance(0.2)) text = damageText(text, random, ['\n', '\n\n', '\r', 'data: ', '\0', '\ufeff', '}', ': x\n']);
  const bytes = Buffer.from(text);
  return random.chance(0.1) ? damageBytes(bytes, random) : bytes;
}

const record = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(record) : []);
/** Clients go by the kind: what no name of theirs stands for runs nothing. */
const isWords = ({ type }: Json): boolean =>
  typeof type === 'string' && !/tool|call|function|shell|computer|code/.test(type);

/** A kind that nobody knows is no call, whatever its name reads like. */
const untyped = ({ type: _, ...rest }: Json): Json => rest;

/** Where a harness that takes what it can looks for calls. */
const CALLS: Record<Api, (event: Json) => unknown[]> = {
  chat: ({ choices }) =>
    list(choices).flatMap(({ delta, message }) =>
      [delta, message].map(record).flatMap(({ tool_calls: calls, function_call: legacy }) => [calls, legacy]),
    ),
  responses: (event) => [
    ...(String(event.type).includes('arguments') ? [event.delta, event.arguments] : []),
    ...[record(event.item), ...list(record(event.response).output)].filter((item) => !isWords(item)).map(untyped),
  ],
  messages: ({ type, delta, content_block: block, message }) => [
    ...(type === 'content_block_delta' ? [record(delta).partial_json] : []),
    ...[record(block), ...list(record(message).content)].filter((one) => !isWords(one)).map(untyped),
  ],
};

function showsMark(values: unknown[]): boolean {
  const left = [...values];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string' && value.includes(MARK)) return true;
    if (typeof value === 'object' && value !== null) left.push(...Object.values(value));
  }
  return false;
}

const TERMINAL: Record<Api, RegExp> = {
  chat: /data: ?(?:\[DONE\]|\{"error"[^\n]*)[\r\n]{2,}$/,
  responses: /event: (?:response\.(?:completed|incomplete|failed)|error)\r?\n/,
  messages: /event: (?:message_stop|error)\r?\n/,
};

let rig: Rig;
let close: () => void;
let next: { bytes: Buffer; pieces: number[] };
const blockAll: Guard = {
  checkResponse: ({ toolCalls }) =>
    toolCalls.map(({ id }) => ({
      toolCallId: id,
      verdict: 'block',
      stage: 2,
      rule: 'test.all',
      severity: 'high',
      reason: 'No calls.',
      ms: 0,
    })),
  blockedNotice: (name, reason) => `[tackroom] blocked call to \`${name}\`: ${reason}`,
};
beforeAll(async () => {
  rig = await startRig({}, () => blockAll);
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let from = 0;
      for (const size of next.pieces) {
        response.write(next.bytes.subarray(from, from + size));
        from += size;
      }
      response.end(next.bytes.subarray(from));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  rig.store.setSetting(UPSTREAMS_SETTING, { pi: { baseUrl } });
  await rig.call('routes.reload');
  close = () => {
    server.closeAllConnections();
    server.close();
  };
});
afterAll(async () => {
  close();
  await rig.close();
});

const READS = fuzzCount(1500);
const ANSWERED = fuzzCount(150);

describe('damaged requests', () => {
  it.each(APIS)('%s', { timeout: 60_000 + READS * 20 }, (api) => {
    const reader = new BodyReader();
    const dialect = DIALECTS[api];
    return fuzz(`requests of ${api}`, READS, 1000, (random) => {
      const body = structuredClone(REQUESTS[api]);
      if (random.chance(0.9)) damageValue(body as never, random);
      const text = jsonText(body);
      const bytes = Buffer.from(
        random.chance(0.2) ? damageText(text, random, ['\\', '"', '[', ']', '{}', '\0']) : text,
      );
      try {
        const chat = dialect.parse(reader.read(random.chance(0.1) ? damageBytes(bytes, random) : bytes, dialect.list));
        if (chainOf(chat.messages).length !== chat.messages.length) throw new Error('a message got lost');
        return true;
      } catch (cause) {
        if (cause instanceof HttpError && cause.status === 400) return false;
        throw cause;
      }
    });
  });
});

describe('damaged answers', () => {
  it.each(APIS)('%s', { timeout: 60_000 + ANSWERED * 200 }, async (api) => {
    let asked = 0;
    await fuzz(`answers of ${api}`, ANSWERED, 2000, async (random) => {
      const bytes = answerOf(api, random);
      const pieces = Array.from({ length: random.below(6) }, () => random.below(bytes.length / 3));
      next = { bytes, pieces };
      const before = rig.store.request.count();
      const headers = { authorization: `Bearer ${rig.token}`, 'x-session-id': `${api}_${asked++}` };
      const reply = await http({ port: rig.port }, 'POST', PATHS[api], JSON.stringify(REQUESTS[api]), headers);
      if (rig.store.request.count() !== before + 1)
        throw new Error(`it is not stored: ${rig.problems.at(-1)} ${reply.status} ${reply.text.slice(-300)}`);
      if (reply.status !== 200) {
        expect(reply.status).toBe(502);
        return false;
      }
      if (!TERMINAL[api].test(reply.text)) throw new Error(`it has no end: ${reply.text.slice(-500)}`);
      for (const [, data] of reply.text.matchAll(/^data: ?(\{.*)$/gm)) {
        let event: unknown;
        try {
          event = JSON.parse(data!);
        } catch {
          continue;
        }
        if (showsMark(CALLS[api](record(event)))) throw new Error(`a call got through: ${data!.slice(0, 500)}`);
      }
      return !/"error"/.test(reply.text);
    });
  });
});
