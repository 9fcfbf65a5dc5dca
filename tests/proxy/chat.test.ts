import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import { idsOf } from './fake-engine.js';
import { sseEvents, strictAnswer } from './strict-sse.js';
import { ask, BASH, errorOf, http, type Rig, startRig } from './support.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

const run = (command: string) => ({ name: 'bash', arguments: `{"command": "${command}"}` });
const until = async (condition: () => boolean): Promise<void> => {
  for (let i = 0; !condition(); i++) {
    if (i > 300) throw new Error('it never came true');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

describe('streaming', () => {
  it('streams text as it is sampled and ends with usage', async () => {
    rig.engine.script({ text: ['Hel', 'lo', ' there.'] });
    const reply = await rig.chat({
      messages: ask('Hi'),
      stream: true,
      stream_options: { include_usage: true },
      model: 'any/id',
    });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toContain('text/event-stream');
    const answer = strictAnswer(reply.text);
    expect(answer).toMatchObject({
      text: 'Hello there.',
      finish: 'stop',
      model: 'any/id',
      textDeltas: 3,
      toolCalls: [],
    });
    const prompt = idsOf({ messages: ask('Hi') }).length;
    expect(answer.usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: 3, total_tokens: prompt + 3 });
    expect(answer.id).toBe(`chatcmpl-${rig.store.request.list()[0]!.id}`);
  });

  it('sends parallel tool calls whole, with ids and indexes, and no usage unless asked', async () => {
    rig.engine.script({ text: ['Two.'], calls: [run('echo one'), run('echo two')] });
    const answer = strictAnswer((await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true })).text);
    expect(answer.toolCalls.map((call) => call.arguments)).toEqual([
      '{"command": "echo one"}',
      '{"command": "echo two"}',
    ]);
    expect(answer).toMatchObject({ finish: 'tool_calls', usage: null });
  });

  it('gives calls without an id, or with the same one, ids of their own', async () => {
    rig.engine.script({
      calls: [
        { ...run('a'), id: '' },
        { ...run('b'), id: 'x' },
        { ...run('c'), id: 'x' },
      ],
    });
    const answer = strictAnswer((await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true })).text);
    expect(new Set(answer.toolCalls.map((call) => call.id)).size).toBe(3);
  });

  it('keeps a silent stream alive with comments', async () => {
    await rig.close();
    rig = await startRig({ keepAliveMs: 20 });
    rig.engine.script({ text: ['Late.'], pauseMs: 90 });
    const answer = strictAnswer((await rig.chat({ messages: ask('Hi'), stream: true })).text);
    expect(answer.text).toBe('Late.');
    expect(answer.keepAlives).toBeGreaterThanOrEqual(2);
  });
});

describe('not streaming', () => {
  it('answers one document', async () => {
    rig.engine.script({ text: ['Sure.'], calls: [run('ls')] });
    const reply = await rig.chat({ messages: ask('Hi'), tools: [BASH] });
    expect(JSON.parse(reply.text)).toMatchObject({
      object: 'chat.completion',
      model: 'tackroom/demo',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: { role: 'assistant', content: 'Sure.', tool_calls: [{ type: 'function', function: run('ls') }] },
        },
      ],
      usage: { completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } },
    });
  });

  it('lists the model', async () => {
    const reply = await http({ port: rig.port }, 'GET', '/v1/models', null, { 'x-api-key': rig.token });
    expect(JSON.parse(reply.text)).toMatchObject({ object: 'list', data: [{ id: 'tackroom/demo', object: 'model' }] });
  });
});

describe('guard', () => {
  it('replaces a blocked call by its notice and ends the turn', async () => {
    rig.engine.script({ text: ['Now.'], calls: [run('evil')] });
    const answer = strictAnswer((await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true })).text);
    expect(answer).toMatchObject({
      text: 'Now.\n\n[tackroom] blocked call to `bash`: It is evil.',
      toolCalls: [],
      finish: 'stop',
    });
    const request = rig.store.request.list()[0]!;
    expect(rig.recorder.messages.message(request.answer!)).toMatchObject({
      content: 'Now.',
      tool_calls: [{ function: run('evil') }],
    });
    expect(rig.store.verdict.list()[0]).toMatchObject({
      verdict: 'block',
      rule: 'test.evil',
      toolCallId: rig.store.toolCall.list()[0]!.id,
    });
    expect(rig.recorder.requestTokens(request.id)).toMatchObject({ completionIds: [7, 8, 9] });
    expect(rig.events).toEqual([{ sessionId: request.sessionId, requestId: request.id, origin: 'user', blocked: 1 }]);
  });

  it('drops only the blocked call of several', async () => {
    rig.engine.script({ calls: [run('ls'), run('evil'), run('pwd')] });
    const answer = strictAnswer((await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true })).text);
    expect(answer.toolCalls.map((call) => call.arguments)).toEqual([run('ls').arguments, run('pwd').arguments]);
    expect(answer).toMatchObject({ finish: 'tool_calls', text: '[tackroom] blocked call to `bash`: It is evil.' });
    const plain = JSON.parse((await rig.chat({ messages: ask('Hi'), tools: [BASH] })).text) as {
      choices: { message: { tool_calls: unknown[] }; finish_reason: string }[];
    };
    expect(plain.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: '[tackroom] blocked call to `bash`: It is evil.' },
    });
    expect(plain.choices[0]!.message.tool_calls).toHaveLength(2);
  });

  it('lets no call through when the guard itself fails', async () => {
    await rig.close();
    const broken = () => {
      throw new Error('rule file is broken');
    };
    rig = await startRig({}, () => ({ checkResponse: broken, blockedNotice: () => '' }));
    rig.engine.script({ calls: [run('ls')] });
    const reply = await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true });
    expect([reply.status, reply.text.includes('tool_calls')]).toEqual([500, false]);
    expect(rig.store.request.list()[0]).toMatchObject({ status: 'error' });
  });
});

describe('failures', () => {
  it('answers 503 in words that make a harness ask again when the engine is gone, and records it', async () => {
    await rig.engine.close();
    const reply = await rig.chat({ messages: ask('Hi'), stream: true });
    expect(reply.status).toBe(503);
    expect(errorOf(reply)).toMatchObject({
      type: 'server_error',
      code: 'SERVICE_GONE',
      message: expect.stringContaining('temporarily unavailable'),
    });
    expect(rig.store.request.list()[0]).toMatchObject({
      status: 'error',
      answer: null,
      error: expect.stringContaining('SERVICE_GONE'),
    });
  });

  it('ends a begun stream with an error event and without [DONE] when the engine dies', async () => {
    rig.engine.script({ text: ['Half an', ' answer'], dies: true });
    const { events } = sseEvents((await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true })).text);
    expect(JSON.parse(events.at(-1)!)).toMatchObject({
      error: { code: 'SERVICE_GONE', message: expect.stringContaining('temporarily unavailable') },
    });
    expect(events.some((event) => event.includes('"finish_reason":"'))).toBe(false);
    const request = rig.store.request.list()[0]!;
    expect(request.status).toBe('error');
    expect(rig.recorder.messages.message(request.answer!)).toEqual({ role: 'assistant', content: 'Half an answer' });
  });

  it('names an answer that takes too long', async () => {
    await rig.close();
    rig = await startRig({ engineMs: 30 });
    rig.engine.script({ text: ['Late.'], pauseMs: 500 });
    const reply = await rig.chat({ messages: ask('Hi') });
    expect([reply.status, errorOf(reply).code]).toEqual([503, 'DEADLINE']);
    await until(() => rig.engine.cancelled === 1);
  });

  it('says when the context is full, so that the harness compacts', async () => {
    rig.engine.script({
      error: new TackroomError('CONTEXT_FULL', 'The prompt has 5000 tokens, the model holds 4096.'),
    });
    const reply = await rig.chat({ messages: ask('Hi'), stream: true });
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringMatching(/exceeds the context window/),
    });
  });

  it('cancels the engine when the client leaves, and keeps what came', async () => {
    rig.engine.script({ text: ['One', 'Two', 'Three', 'Four'], pauseMs: 60 });
    const body = JSON.stringify({ model: 'm', messages: ask('Hi'), stream: true });
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${rig.token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await new Promise((resolve) => socket.on('data', (data: Buffer) => data.includes('One') && resolve(null)));
    socket.destroy();
    await until(() => rig.events.length === 1);
    await until(() => rig.engine.cancelled === 1);
    const request = rig.store.request.list()[0]!;
    expect(request).toMatchObject({ status: 'cancelled' });
    expect(rig.recorder.messages.message(request.answer!)?.content).toMatch(/^One/);
  });

  it('takes a client that closes right after [DONE] as done', async () => {
    const body = JSON.stringify({ model: 'm', messages: ask('Hi'), stream: true });
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${rig.token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await new Promise((resolve) => socket.on('data', (data: Buffer) => data.includes('[DONE]') && resolve(null)));
    expect(rig.store.request.list()[0]).toMatchObject({ status: 'ok' });
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rig.store.request.list()).toHaveLength(1);
    expect(rig.store.request.list()[0]).toMatchObject({ status: 'ok', error: null });
  });

  it('acknowledges nothing that could not be stored', async () => {
    rig.engine.script({ calls: [run('ls')] });
    rig.store.db.exec(
      "CREATE TRIGGER full BEFORE INSERT ON request BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
    );
    const reply = await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true });
    expect([reply.status, reply.text.includes('[DONE]')]).toEqual([503, false]);
    expect(rig.problems).toHaveLength(1);
    expect(rig.store.session.count()).toBe(0);
  });

  it('stops a harness that asks the same for ever', async () => {
    const statuses = [];
    for (let i = 0; i < 62; i++)
      statuses.push((await rig.chat({ messages: ask('Hi'), tools: [BASH], stream: true })).status);
    expect(statuses.slice(59)).toEqual([200, 403, 403]);
    expect((await rig.chat({ messages: ask('Something new'), tools: [BASH] })).status).toBe(200);
  });
});

describe('what reaches the engine and the record', () => {
  it('hands over messages, tools, sampling and the deployed adapter', async () => {
    const base = { version: 1 as const, adapterId: 'a', previousId: null };
    rig.store.deployment.put({ ...base, id: 'd1', createdAt: 1, harness: 'pi', adapterHash: 'old' });
    rig.store.deployment.put({ ...base, id: 'd2', createdAt: 2, harness: 'pi', adapterHash: 'new' });
    await rig.chat({
      messages: [{ role: 'developer', content: 'x' }, ...ask('Hi')],
      tools: [BASH],
      temperature: 0.3,
      top_p: 0.9,
      max_completion_tokens: 50,
      seed: 5,
    });
    expect(rig.engine.asked[0]).toMatchObject({
      adapter: 'new',
      tools: [BASH],
      sampling: { temperature: 0.3, topP: 0.9, maxTokens: 50, seed: 5 },
    });
    expect(rig.engine.asked[0]!.messages[0]).toEqual({ role: 'developer', content: 'x' });
    expect(rig.store.request.list()[0]).toMatchObject({
      adapterHash: 'new',
      sampling: { seed: 5 },
      model: 'tackroom/demo',
    });
    rig.store.deployment.put({ ...base, id: 'd3', createdAt: 3, harness: 'pi', adapterHash: null });
    await rig.chat({ messages: ask('cached') });
    await rig.call('routes.reload');
    await rig.chat({ messages: ask('reloaded') });
    await rig.post('/opencode/v1/chat/completions', { model: 'm', messages: ask('other') });
    expect(rig.engine.asked.slice(1).map((params) => params.adapter)).toEqual(['new', null, null]);
  });

  it('has an engine that was started again load the deployed adapter', async () => {
    const hash = 'new';
    rig.store.adapter.put({
      id: 'a',
      version: 1,
      createdAt: 1,
      hash,
      name: 'n',
      baseModel: 'demo',
      runId: null,
      checkpointId: null,
      dir: '/adapters/new',
      rank: 8,
      alpha: 16,
      pass1: null,
      bytes: 1,
    });
    rig.store.deployment.put({
      id: 'd',
      version: 1,
      createdAt: 1,
      harness: 'pi',
      adapterId: 'a',
      adapterHash: hash,
      previousId: null,
    });
    rig.engine.script({ error: new TackroomError('NOT_FOUND', 'There is no adapter new.') }, { text: ['Loaded.'] });
    const reply = await rig.chat({ messages: ask('Hi'), stream: true });
    expect([strictAnswer(reply.text).text, rig.engine.loaded]).toEqual(['Loaded.', ['/adapters/new']]);
    expect(rig.store.request.list()).toMatchObject([{ status: 'ok', adapterHash: hash }]);
  });

  it('groups by the session header and by prefix', async () => {
    await rig.chat({ messages: ask('a') }, { session_id: 'uuid' });
    await rig.chat({ messages: ask('b') }, { 'x-session-affinity': 'uuid' });
    await rig.chat({ messages: ask('c'), prompt_cache_key: 'uuid' });
    expect(rig.store.session.list()).toMatchObject([{ harnessSessionId: 'uuid', requests: 3, harness: 'pi' }]);
    rig.engine.script({ calls: [run('ls')] });
    const { toolCalls } = strictAnswer((await rig.chat({ messages: ask('d'), tools: [BASH], stream: true })).text);
    const call = {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: toolCalls[0]!.id, type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } },
      ],
    };
    rig.engine.script({ text: ['done'] });
    await rig.chat({
      messages: [...ask('d'), call, { role: 'tool', tool_call_id: toolCalls[0]!.id, content: 'x' }],
      tools: [BASH],
    });
    expect(
      rig.store.session
        .list()
        .map((session) => session.requests)
        .sort(),
    ).toEqual([2, 3]);
  });
});
