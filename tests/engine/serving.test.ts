import { copyFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatResult, EngineStatus } from '../../main/engine/protocol.js';
import { demoModelDir } from '../../main/services/paths.js';
import { RpcClient } from '../../main/services/rpc.js';
import { strictAnswer } from '../proxy/strict-sse.js';
import { ask, BASH, errorOf, type Rig, startRig } from '../proxy/support.js';
import { satisfies } from './constrain/validate.js';
import { NotStarted, type RealEngine, removeBundle, startRealEngine } from './real-engine.js';

let engine: RealEngine;
let small: RealEngine;
let rig: Rig;
let rpc: RpcClient;

beforeAll(async () => {
  engine = await startRealEngine();
  // Keys and values of 384 tokens: 4 layers, 2 heads of 32.
  small = await startRealEngine(['--kv-bytes', String(384 * 4 * 2 * 32 * 2 * 4)]);
  rig = await startRig({}, undefined, engine.path);
  rpc = new RpcClient(engine.path, 'engine');
}, 60_000);
afterAll(async () => {
  rpc.close();
  await rig.close();
  await Promise.all([engine.stop(), small.stop()]);
  await removeBundle();
});

const words = (n: number): string => Array.from({ length: n }, (_, i) => `word${i}`).join(' ');
type Completion = {
  choices: {
    message: { content: string; tool_calls?: { function: { arguments: string } }[] };
    finish_reason: string;
  }[];
};
const answerOf = (text: string): Completion['choices'][0] => (JSON.parse(text) as Completion).choices[0]!;

describe('errors in the form of the API', () => {
  it('says that a prompt is longer than the context', async () => {
    const reply = await rig.chat({ messages: ask(words(1500)) });
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ type: 'invalid_request_error', code: 'context_length_exceeded' });
    expect(errorOf(reply).message).toMatch(/has \d+ tokens; this model holds 2048/);
    const streamed = await rig.chat({ messages: ask(words(1500)), stream: true });
    expect([streamed.status, errorOf(streamed).code]).toEqual([400, 'context_length_exceeded']);
  });

  it('says that a prompt is longer than the memory for contexts', async () => {
    const tight = await startRig({}, undefined, small.path);
    const reply = await tight.chat({ messages: ask(words(300)) });
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'context_length_exceeded']);
    expect(errorOf(reply).message).toMatch(/memory set aside for contexts holds 384/);
    expect((await tight.chat({ messages: ask('Hello'), max_tokens: 3 })).status).toBe(200);
    await tight.close();
  });

  it('refuses a conversation without messages', async () => {
    const reply = await rig.chat({ messages: [] });
    expect([reply.status, errorOf(reply).type]).toEqual([400, 'invalid_request_error']);
  });

  it('says which keyword of a strict schema is not served', async () => {
    const tool = {
      type: 'function',
      function: {
        name: 'find',
        strict: true,
        parameters: { type: 'object', properties: { glob: { type: 'string', pattern: '^/' } } },
      },
    };
    const reply = await rig.chat({ messages: ask('Go'), tools: [tool] });
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'UNSUPPORTED']);
    expect(errorOf(reply).message).toMatch(/tool find.*"pattern" at glob/);
  });

  it('does not sample for a rollout whose prompt is too long', async () => {
    const worker = await rig.worker('w1', { maxPromptTokens: 40 });
    const reply = await worker.chat({ messages: ask(words(60)), tools: [BASH], stream: true });
    expect(strictAnswer(reply.text).text).toBe('I stop here.');
    expect(await worker.end()).toMatchObject({ finish: 'context', completionTokens: 0 });
  });

  it('does not start with a model larger than the memory, and says so in one sentence', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tackroom-large-'));
    for (const file of ['config.json', 'tokenizer.json', 'model.safetensors'])
      copyFileSync(join(demoModelDir(), file), join(dir, file));
    // Sparse: takes no room on the disk.
    truncateSync(join(dir, 'model.safetensors'), 2 ** 43);
    const failure = await startRealEngine([], dir).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotStarted);
    const { shape } = failure as NotStarted;
    expect(shape.code).toBe('OUT_OF_MEMORY');
    expect(shape.message).toMatch(/needs about 8192 GiB of memory; .* GiB are free\.$/);
    expect(shape.hint).toMatch(/smaller model/);
    rmSync(dir, { recursive: true, force: true });
  });
});

describe('stop strings', () => {
  it('end the answer; the ids stay as sampled', async () => {
    const params = {
      messages: ask('Say something long.'),
      sampling: { temperature: 2.5, seed: 4, maxTokens: 60 },
      adapter: null,
    };
    const whole = await rpc.call<ChatResult>('chat', params);
    expect(whole.content.length).toBeGreaterThan(6);
    // Some characters from the middle, wherever the tokens part.
    const stop = whole.content.slice(3, 6);
    const pieces: string[] = [];
    const cut = await rpc.call<ChatResult>(
      'chat',
      { ...params, stop: [stop] },
      { onEvent: (event) => pieces.push((event as { text: string }).text) },
    );
    const at = whole.content.indexOf(stop);
    expect([cut.content, cut.finish]).toEqual([whole.content.slice(0, at), 'stop']);
    expect(pieces.join('')).toBe(cut.content);
    expect(cut.completionIds).toEqual(whole.completionIds.slice(0, cut.completionIds.length));
    expect(cut.logprobs).toEqual(whole.logprobs.slice(0, cut.logprobs.length));
    const reply = await rig.chat({ messages: params.messages, temperature: 2.5, seed: 4, max_tokens: 60, stop });
    expect(answerOf(reply.text)).toMatchObject({ message: { content: cut.content }, finish_reason: 'stop' });
  });
});

describe('answers held to a schema', () => {
  const parameters = {
    type: 'object',
    properties: {
      mode: { enum: ['read', 'write'] },
      lines: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 400 }, minItems: 1, maxItems: 3 },
      note: { type: ['string', 'null'], maxLength: 12 },
    },
    required: ['mode', 'lines', 'note'],
    additionalProperties: false,
  };

  it('gives JSON that satisfies the response format, at any temperature', async () => {
    for (let seed = 0; seed < 8; seed++) {
      const reply = await rig.chat({
        messages: ask('Answer in JSON.'),
        temperature: 3,
        seed,
        max_tokens: 200,
        response_format: { type: 'json_schema', json_schema: { name: 'edit', schema: parameters, strict: true } },
      });
      const { message, finish_reason } = answerOf(reply.text);
      expect(finish_reason).toBe('stop');
      expect(satisfies(JSON.parse(message.content), parameters)).toBe(true);
      expect(message.content).toBe(message.content.trim());
    }
  });

  it('gives tool calls whose arguments satisfy the schema of a strict tool', async () => {
    const tool = { type: 'function' as const, function: { name: 'edit', parameters, strict: true } };
    let calls = 0;
    for (let seed = 0; seed < 12; seed++) {
      const reply = await rig.chat({
        messages: ask('Read line 3 of the file.'),
        tools: [tool],
        temperature: 1.5,
        seed,
        max_tokens: 200,
      });
      for (const call of answerOf(reply.text).message.tool_calls ?? []) {
        calls++;
        expect(satisfies(JSON.parse(call.function.arguments), parameters)).toBe(true);
      }
    }
    expect(calls).toBeGreaterThan(0);
  });

  it('reports log-probabilities of the unconstrained distribution', async () => {
    const params = {
      messages: ask('Answer in JSON.'),
      sampling: { temperature: 1, seed: 1, maxTokens: 1 },
      adapter: null,
    };
    const free = await rpc.call<ChatResult>('chat', { ...params, sampling: { ...params.sampling, temperature: 0 } });
    const held = await rpc.call<ChatResult>('chat', { ...params, jsonSchema: { const: 'zzz' } });
    // The model would not begin with a quotation mark by itself: renormalised, its only way would have probability 1.
    expect(held.completionIds).not.toEqual(free.completionIds);
    expect(held.logprobs[0]).toBeLessThan(-0.1);
  });
});

it('says in its status what runs, what waits and what it holds', async () => {
  const status = await rpc.call<EngineStatus>('status');
  expect(status.kv.bytesPerToken).toBe(4 * 2 * 32 * 2 * 4);
  expect(status.kv.cacheBytes).toBeGreaterThan(0);
  expect(status.kv.runningBytes).toBe(0);
  expect(status).toMatchObject({ running: 0, decoding: 0, prefilling: 0, queued: 0, waitsFor: null, adapterUse: [] });
});
