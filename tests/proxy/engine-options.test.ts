import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import { ask, BASH, errorOf, type Rig, startRig } from './support.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

describe('what reaches the engine', () => {
  it('asks for stop strings, strict tools and answers in JSON', async () => {
    const strict = { ...BASH, function: { ...BASH.function, strict: true } };
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const other = { ...BASH, function: { ...BASH.function, name: 'read' } };
    await rig.chat({ messages: ask('Go'), tools: [strict, other], stop: 'END' });
    await rig.chat({ messages: ask('Go 2'), stop: ['a', 'b'], response_format: { type: 'json_object' } });
    await rig.chat({
      messages: ask('Go 3'),
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    });
    await rig.chat({ messages: ask('Go 4'), tools: [BASH], response_format: { type: 'text' }, stop: null });
    const [first, second, third, fourth] = rig.engine.asked;
    expect(first).toMatchObject({ stop: ['END'], constrain: 'tools', strictTools: ['bash'] });
    expect(second).toMatchObject({ stop: ['a', 'b'], jsonSchema: { type: 'object' } });
    expect(third).toMatchObject({ jsonSchema: schema });
    for (const key of ['stop', 'constrain', 'strictTools', 'jsonSchema']) expect(fourth).not.toHaveProperty(key);
  });

  it("marks the user's requests and those of rollouts, with the rollout's limit of prompt tokens", async () => {
    await rig.chat({ messages: ask('Go') });
    const worker = await rig.worker('w1', { maxPromptTokens: 777 });
    await worker.chat({ messages: ask('Go'), tools: [BASH], stream: true });
    expect(rig.engine.asked).toMatchObject([
      { priority: 'interactive' },
      { priority: 'rollout', maxPromptTokens: 777 },
    ]);
    expect(rig.engine.asked[0]).not.toHaveProperty('maxPromptTokens');
  });
});

describe('errors of the engine', () => {
  it.each([
    ['BUSY', 429, 'rate_limit_error', '1', /overloaded.*Too many requests/],
    ['DEADLINE', 503, 'server_error', undefined, /overloaded.*temporarily unavailable/],
    ['OUT_OF_MEMORY', 503, 'server_error', undefined, /temporarily unavailable/],
    // Asking again would not help: the words must not read as if it did.
    ['ADAPTER_MISMATCH', 500, 'server_error', undefined, /^(?!.*(temporarily|Too many))/],
    ['UNSUPPORTED', 400, 'invalid_request_error', undefined, /overloaded/],
  ] as const)('%s becomes %i', async (code, status, type, retryAfter, words) => {
    rig.engine.script({ error: new TackroomError(code, 'The engine is overloaded: 256 requests wait already.') });
    const reply = await rig.chat({ messages: ask('Go'), stream: true });
    expect(reply.status).toBe(status);
    expect(errorOf(reply)).toMatchObject({ type, code });
    expect(errorOf(reply).message).toMatch(words);
    expect(reply.headers['retry-after']).toBe(retryAfter);
  });
});
