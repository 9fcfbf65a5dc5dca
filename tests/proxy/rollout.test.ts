import { existsSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import type { ChatMessage } from '../../main/engine/protocol.js';
import { requestSeed } from '../../main/proxy/seed.js';
import { idsOf } from './fake-engine.js';
import { strictAnswer } from './strict-sse.js';
import { ask, BASH, type Rig, startRig } from './support.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig({ workerDrainMs: 150 });
});
afterEach(() => rig.close());

const call = (id: string): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
});
const toolResult = (id: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: 'x' });
const ls = { name: 'bash', arguments: '{"command":"ls"}' };

it('serves without token or host, overrides the sampling, and hands over the exact trace', async () => {
  const worker = await rig.worker('w1', {
    adapter: 'hash-1',
    sampling: { temperature: 0.9, topP: 0.8, seed: 42, maxTokens: 64 },
  });
  expect(statSync(worker.socketPath).mode & 0o777).toBe(0o666);
  rig.engine.script({ calls: [{ ...ls, id: 'c1' }] }, { text: ['Done.'] });
  const first = await worker.chat(
    { messages: ask('Go'), tools: [BASH], stream: true, temperature: 0.1, max_tokens: 4000 },
    { host: 'model.invalid', session_id: 'uuid' },
  );
  expect(strictAnswer(first.text).finish).toBe('tool_calls');
  await worker.chat({ messages: [...ask('Go'), call('c1'), toolResult('c1')], tools: [BASH] }, { session_id: 'uuid' });
  expect(rig.engine.asked.map((params) => params.sampling)).toEqual([
    { temperature: 0.9, topP: 0.8, maxTokens: 64, seed: requestSeed(42, 'main', 0) },
    { temperature: 0.9, topP: 0.8, maxTokens: 64, seed: requestSeed(42, 'main', 1) },
  ]);
  const summary = await worker.end();
  const [session] = rig.store.session.list();
  expect(session).toMatchObject({
    origin: 'rollout',
    rolloutId: 'rollout-w1',
    title: 'A task',
    harnessSessionId: 'uuid',
    requests: 2,
  });
  expect(summary).toMatchObject({
    sessionIds: [session!.id],
    requests: 2,
    toolCalls: 1,
    blocked: 0,
    completionTokens: 6,
    finish: 'stop',
    error: null,
  });
  expect(summary.trace).toHaveLength(2);
  expect(summary.trace[0]).toEqual({
    requestId: expect.stringMatching(/^req_/) as string,
    promptIds: idsOf({ messages: ask('Go') }),
    completionIds: [7, 8, 9],
    logprobs: [-0.5, -0.25, -0.125],
    adapterHash: 'hash-1',
    finish: 'tool_calls',
    synthetic: false,
    blocked: 0,
  });
});

it('draws the same seeds for the same session seed, and others for another', async () => {
  const worker = await rig.worker('w1');
  const seeds = async (seed: number): Promise<(number | undefined)[]> => {
    const before = rig.engine.asked.length;
    // The title runs beside the main turns: it must not shift their seeds.
    await worker.chat({ messages: ask('Title?') });
    for (let i = 0; i < 2; i++) await worker.chat({ messages: ask(`turn ${i}`), tools: [BASH] });
    await worker.end();
    await worker.begin({ sampling: { temperature: 1, seed } });
    return rig.engine.asked.slice(before).map((params) => params.sampling.seed);
  };
  const [a, b, c] = [await seeds(42), await seeds(43), await seeds(0)];
  expect(b).toEqual(a);
  expect(c).not.toEqual(a);
  expect(new Set(a).size).toBe(3);
  for (const seed of a) expect(Number.isSafeInteger(seed)).toBe(true);
});

describe('budgets', () => {
  it('stops after the allowed tool results, also when the history was shortened', async () => {
    const worker = await rig.worker('w1', { maxCalls: 2 });
    rig.engine.script({ calls: [ls] });
    await worker.chat({ messages: [...ask('Go'), call('a'), toolResult('a')], tools: [BASH] });
    const answer = strictAnswer(
      (await worker.chat({ messages: [...ask('Summary'), call('b'), toolResult('b')], tools: [BASH], stream: true }))
        .text,
    );
    expect(answer).toMatchObject({ text: 'I stop here.', finish: 'stop', toolCalls: [] });
    const summary = await worker.end();
    expect(summary).toMatchObject({ finish: 'calls', requests: 2 });
    expect(summary.trace.map(({ synthetic, completionIds }) => [synthetic, completionIds.length])).toEqual([
      [false, 3],
      [true, 0],
    ]);
    expect(rig.engine.asked).toHaveLength(1);
    expect(rig.store.request.list()[0]).toMatchObject({ synthetic: true, status: 'ok' });
  });

  it('puts the stop in place of an answer to a prompt that is too long, showing nothing of it', async () => {
    const worker = await rig.worker('w1', { maxPromptTokens: 30 });
    rig.engine.script({ text: ['I was', ' sampled'], calls: [ls], promptIds: Array.from({ length: 31 }, (_, i) => i) });
    expect(strictAnswer((await worker.chat({ messages: ask('Go'), tools: [BASH], stream: true })).text)).toMatchObject({
      text: 'I stop here.',
      toolCalls: [],
    });
    expect(await worker.end()).toMatchObject({ finish: 'context', trace: [{ synthetic: true, promptIds: [] }] });
  });

  it('stops when the engine says that the context is full', async () => {
    const worker = await rig.worker('w1');
    rig.engine.script({ error: new TackroomError('CONTEXT_FULL', 'full') });
    expect(strictAnswer((await worker.chat({ messages: ask('Go'), tools: [BASH], stream: true })).text).text).toBe(
      'I stop here.',
    );
    expect(await worker.end()).toMatchObject({ finish: 'context', error: null });
  });
});

it('counts a blocked call and trains on what was sampled', async () => {
  const worker = await rig.worker('w1');
  rig.engine.script({ calls: [{ name: 'bash', arguments: '{"command":"evil"}' }] });
  expect(strictAnswer((await worker.chat({ messages: ask('Go'), tools: [BASH], stream: true })).text).finish).toBe(
    'stop',
  );
  expect(await worker.end()).toMatchObject({
    finish: 'stop',
    blocked: 1,
    toolCalls: 1,
    trace: [{ blocked: 1, synthetic: false, completionIds: [7, 8, 9], finish: 'tool_calls' }],
  });
});

it('does not train on titles and summaries', async () => {
  const worker = await rig.worker('w1');
  await worker.chat({ messages: ask('Make a title.') });
  await worker.chat({ messages: ask('Go'), tools: [BASH] });
  // hermes asks its last turn without tools: it goes on with the conversation, so it is one.
  await worker.chat({
    messages: [...ask('Go'), { role: 'assistant', content: 'Hello.' }, { role: 'user', content: 'Last turn.' }],
  });
  expect((await worker.end()).trace.map((entry) => entry.synthetic)).toEqual([true, false, false]);
});

it('says why a rollout ended badly', async () => {
  const worker = await rig.worker('w1');
  expect(await worker.end()).toMatchObject({ finish: 'error', error: 'The harness sent no request.', trace: [] });
  await worker.begin();
  rig.engine.script({ error: new TackroomError('NOT_FOUND', 'There is no adapter x.') });
  expect((await worker.chat({ messages: ask('Go') })).status).toBe(404);
  expect(await worker.end()).toMatchObject({
    finish: 'error',
    error: 'NOT_FOUND: There is no adapter x.',
    requests: 1,
    trace: [],
  });
  await worker.begin();
  rig.engine.script({ calls: [ls] });
  await worker.chat({ messages: ask('Go'), tools: [BASH] });
  expect(await worker.end()).toMatchObject({
    finish: 'error',
    error: expect.stringContaining('left') as string,
    trace: [{ synthetic: false }],
  });
  await worker.begin();
  rig.engine.script({ text: ['Cut'], finish: 'length' });
  await worker.chat({ messages: ask('Go'), tools: [BASH] });
  expect(await worker.end()).toMatchObject({ finish: 'length', error: null });
});

it('cancels what is still open when a rollout ends, and takes nothing between rollouts', async () => {
  const worker = await rig.worker('w1');
  rig.engine.script({ text: ['Slow'], pauseMs: 3000 });
  const open = worker.chat({ messages: ask('Go'), tools: [BASH], stream: true });
  while (rig.engine.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const started = Date.now();
  expect(await worker.end()).toMatchObject({ finish: 'error', error: expect.stringContaining('CANCELLED') as string });
  expect(Date.now() - started).toBeLessThan(2000);
  expect((await open).status).toBe(503);
  expect((await worker.chat({ messages: ask('Go') })).status).toBe(403);
  await expect(worker.end()).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  await worker.begin();
  await expect(worker.begin()).rejects.toMatchObject({ code: 'BUSY' });
  await rig.call('worker.close', { worker: 'w1' });
  await expect(worker.chat({ messages: ask('Go') })).rejects.toThrow();
  expect(existsSync(worker.socketPath)).toBe(false);
  expect(await rig.call('status')).toMatchObject({ workers: [], requests: 1, pid: process.pid });
});
