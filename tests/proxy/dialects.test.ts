/** The engine behind all three APIs, streaming and not: what a client of each makes of the answer. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import { DIALECTS } from '../../main/proxy/dialects/dialect.js';
import { idsOf } from './fake-engine.js';
import { BASH, http, type Reply, type Rig, startRig } from './support.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

type Json = Record<string, unknown>;
const SCHEMA = BASH.function.parameters;
const CALLS = [
  { name: 'bash', arguments: '{"command":"ls"}', id: 'call_a' },
  { name: 'bash', arguments: '{"command":"evil"}', id: 'call_b' },
];
const NOTICE = '[tackroom] blocked call to `bash`: It is evil.';

/** Named events; every name must be the type of its data. */
function named(reply: Reply): Json[] {
  expect(reply.headers['content-type']).toContain('text/event-stream');
  return reply.text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [, name, data] = /^event: (\S+)\ndata: (.+)$/s.exec(block)!;
      const event = JSON.parse(data!) as Json;
      expect(event.type).toBe(name);
      return event;
    });
}

describe('Messages', () => {
  const conversation = {
    model: 'tackroom/demo',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'List files.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'call_1', name: 'bash', input: { command: 'ls' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'a.txt' }], is_error: false },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ],
    tools: [{ name: 'bash', description: 'Runs.', input_schema: SCHEMA }],
    stop_sequences: ['END'],
    temperature: 0.5,
  };
  const ask = (more: Json = {}, headers = {}): Promise<Reply> =>
    rig.post('/pi/v1/messages?beta=true', { ...conversation, ...more }, headers);

  it('is read into the one form that engine, guard and record know', async () => {
    await ask();
    expect(rig.engine.asked[0]).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'List files.' },
        {
          role: 'assistant',
          content: 'I look.',
          reasoning_content: 'Hm.',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
        { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
      ],
      tools: [{ type: 'function', function: { name: 'bash', description: 'Runs.', parameters: SCHEMA } }],
      sampling: { temperature: 0.5, maxTokens: 100 },
      stop: ['END'],
    });
    expect(rig.store.request.list({})[0]).toMatchObject({ api: 'messages', status: 'ok' });
  });

  it('answers with one document', async () => {
    rig.engine.script({ text: ['Two.'], calls: CALLS });
    const reply = await ask();
    expect(JSON.parse(reply.text)).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'tackroom/demo',
      content: [
        { type: 'text', text: `Two.\n\n${NOTICE}` },
        { type: 'tool_use', id: 'call_a', name: 'bash', input: { command: 'ls' } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { output_tokens: 3 },
    });
  });

  it('streams: blocks are numbered, none overlap, the notice is text', async () => {
    rig.engine.script({ text: ['Tw', 'o.'], calls: CALLS });
    const events = named(await ask({ stream: true }));
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      ...[
        'content_block_start',
        'content_block_delta',
        'content_block_delta',
        'content_block_delta',
        'content_block_stop',
      ],
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      'message_delta',
      'message_stop',
    ]);
    expect(events.filter(({ index }) => index !== undefined).map(({ index }) => index)).toEqual([
      0, 0, 0, 0, 0, 1, 1, 1,
    ]);
    expect(JSON.stringify(events)).toContain(NOTICE.slice(0, 20));
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } });
  });

  it('counts the tokens of a prompt', async () => {
    const { max_tokens: _limit, ...counted } = conversation;
    const reply = await rig.post('/pi/v1/messages/count_tokens', counted);
    await ask();
    expect(JSON.parse(reply.text)).toEqual({ input_tokens: idsOf(rig.engine.asked[0]!).length });
  });

  it('shows what the model thinks before it answers', async () => {
    rig.engine.script({ reasoning: ['Hm', 'm.'], text: ['Two.'] });
    const events = named(await ask({ stream: true }));
    const deltas = events.flatMap(({ type, delta }) => (type === 'content_block_delta' ? [delta] : []));
    expect(deltas).toEqual([
      { type: 'thinking_delta', thinking: 'Hm' },
      { type: 'thinking_delta', thinking: 'm.' },
      { type: 'text_delta', text: 'Two.' },
    ]);
  });

  it('ends the turn when every call is blocked', async () => {
    rig.engine.script({ calls: [CALLS[1]!] });
    const events = named(await ask({ stream: true }));
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' } });
    expect(JSON.stringify(events)).not.toContain('tool_use');
    const reply = await ask();
    expect(JSON.parse(reply.text)).toMatchObject({
      content: [{ type: 'text', text: NOTICE }],
      stop_reason: 'end_turn',
    });
  });

  it('says what is wrong in the form of its API', async () => {
    const wrong = await ask({ messages: [] });
    expect([wrong.status, JSON.parse(wrong.text)]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error' } },
    ]);
    const stranger = await ask({}, { authorization: 'Bearer wrong' });
    expect([stranger.status, JSON.parse(stranger.text)]).toMatchObject([
      401,
      { type: 'error', error: { type: 'authentication_error' } },
    ]);
    rig.engine.script({ text: ['Half'], error: undefined, dies: true });
    const events = named(await ask({ stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
  });
});

describe('Responses', () => {
  const conversation = {
    model: 'tackroom/demo',
    instructions: 'Be brief.',
    store: false,
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'List files.' }] },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'xyz' },
      { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
    ],
    tools: [{ type: 'function', name: 'bash', parameters: SCHEMA, strict: false }],
    max_output_tokens: 50,
  };
  const ask = (more: Json = {}): Promise<Reply> => rig.post('/pi/v1/responses', { ...conversation, ...more });

  it('is read into the one form that engine, guard and record know', async () => {
    await ask();
    expect(rig.engine.asked[0]).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'List files.' }] },
        {
          role: 'assistant',
          content: 'I look.',
          reasoning_content: 'Hm.',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
      ],
      sampling: { maxTokens: 50 },
    });
    expect(rig.store.request.list({})[0]).toMatchObject({ api: 'responses', status: 'ok' });
  });

  it('answers with one document', async () => {
    rig.engine.script({ text: ['Two.'], calls: CALLS });
    const answer = JSON.parse((await ask()).text) as Json;
    expect(answer).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [
        { type: 'message', status: 'completed', content: [{ type: 'output_text', text: `Two.\n\n${NOTICE}` }] },
        { type: 'function_call', call_id: 'call_a', name: 'bash', arguments: '{"command":"ls"}', status: 'completed' },
      ],
      usage: { output_tokens: 3 },
    });
  });

  it('streams: events are numbered, items open and close, the last event holds what was sent', async () => {
    rig.engine.script({ text: ['Tw', 'o.'], calls: CALLS });
    const events = named(await ask({ stream: true }));
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    const items = (type: string): unknown[] =>
      events.filter((event) => event.type === type).map(({ item }) => (item as Json).id);
    expect(items('response.output_item.added')).toEqual(items('response.output_item.done'));
    const last = events.at(-1) as { type: string; response: { output: { content?: { text: string }[] }[] } };
    expect(last).toMatchObject({
      type: 'response.completed',
      response: { output: [{ type: 'message' }, { call_id: 'call_a' }] },
    });
    const text = events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : [])).join('');
    expect(text).toBe(`Two.\n\n${NOTICE}`);
    expect(last.response.output[0]!.content![0]!.text).toBe(text);
  });

  it('says that an answer was cut', async () => {
    rig.engine.script({ text: ['Tw'], finish: 'length' });
    expect(JSON.parse((await ask()).text)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect(named(await ask({ stream: true })).at(-1)).toMatchObject({ type: 'response.incomplete' });
  });

  it('refuses what only the server that made it has, and ends a broken stream with a failure', async () => {
    const reply = await ask({ previous_response_id: 'resp_1' });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('previous_response_id')]);
    rig.engine.script({ text: ['Half'], dies: true });
    expect(named(await ask({ stream: true })).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed' },
    });
    rig.engine.script({ error: new TackroomError('CONTEXT_FULL', 'Too long.') });
  });
});

it('lists its model with the length of its context', async () => {
  const reply = await http({ port: rig.port }, 'GET', '/pi/v1/models', null, { authorization: `Bearer ${rig.token}` });
  expect(JSON.parse(reply.text)).toMatchObject({
    object: 'list',
    data: [{ id: 'tackroom/demo', max_model_len: 4096 }],
  });
});

it('keeps one conversation in one session, whichever API it goes on in', async () => {
  rig.engine.script({ text: ['Hello.'] });
  await rig.post('/pi/v1/messages', { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] });
  await rig.chat({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'More' },
    ],
  });
  expect(rig.store.session.count()).toBe(1);
});

it.each(['constructor', '__proto__', 'toString'])(
  'the reason %s, which every object has, is none that is known',
  (reason) => {
    const collector = DIALECTS.messages.collector({ text: () => undefined, reasoning: () => undefined });
    collector.event(JSON.stringify({ type: 'message_delta', delta: { stop_reason: reason } }), null);
    expect(collector.finish).toBe('stop');
  },
);

it('a call with the name of the last event does not stand for it', () => {
  const { tail } = DIALECTS.messages.editor;
  const call = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', name: 'message_stop' } };
  expect(tail([{ data: JSON.stringify(call) }])).toContain('event: message_stop');
  expect(tail([{ data: '{"type":"message_stop"}' }])).toBe('');
});
