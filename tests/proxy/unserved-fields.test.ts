import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unservedField } from '../../main/proxy/unserved-fields.js';
import { describeShared } from '../support/shared.js';
import { ask, BASH, errorOf, type Rig, startRig } from './support.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

describe('a field that the engine would have to disregard', () => {
  it.each([
    ['n', 2],
    ['best_of', 3],
    ['logit_bias', { '50256': -100 }],
    ['presence_penalty', 0.5],
    ['frequency_penalty', -1],
    ['echo', true],
    ['suffix', ' and so on'],
    ['functions', [{ name: 'old' }]],
    ['modalities', ['text', 'audio']],
    ['web_search_options', {}],
    ['min_tokens', 4],
    ['grammar', 'root ::= "a"'],
    ['tool_choice', 'required'],
    ['tool_choice', { type: 'function', function: { name: 'bash' } }],
    ['parallel_tool_calls', false],
  ])('%s: %j is refused by name', async (field, value) => {
    const reply = await rig.chat({ messages: ask('Go'), tools: [BASH], [field]: value });
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ type: 'invalid_request_error', code: 'UNSUPPORTED' });
    expect(errorOf(reply).message).toContain(`\`${field}\``);
    expect(rig.engine.asked).toEqual([]);
  });

  it('is served where it changes nothing, or says nothing about the answer', async () => {
    const harmless = {
      n: 1,
      best_of: 1,
      logit_bias: {},
      presence_penalty: 0,
      frequency_penalty: null,
      echo: false,
      suffix: null,
      functions: [],
      function_call: 'auto',
      modalities: ['text'],
      user: 'somebody',
      metadata: { run: '7' },
      store: true,
      service_tier: 'flex',
      safety_identifier: 'x',
      prediction: { type: 'content', content: 'a' },
      parallel_tool_calls: true,
      tool_choice: 'auto',
    };
    expect((await rig.chat({ messages: ask('Go'), tools: [BASH], ...harmless })).status).toBe(200);
    // Without tools there is nothing to choose from and nothing to call in parallel.
    expect((await rig.chat({ messages: ask('Go'), tool_choice: 'none', parallel_tool_calls: false })).status).toBe(200);
  });
});

describeShared('harnesses', (shared) => {
  it('send no field that is refused', () => {
    const root = join(shared, 'fixtures', 'harness');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /-chat(-title)?\.request\.json$/.test(name),
    );
    expect(files.length).toBeGreaterThan(100);
    for (const name of files) {
      const { body } = JSON.parse(readFileSync(join(root, name), 'utf8')) as { body: Record<string, unknown> };
      expect(unservedField(body, true), name).toBeUndefined();
    }
  });
});
