/** A call that was cut off reaches the harness as one that nobody can run, in every API; rollouts see the notice. */
import { expect, it } from 'vitest';
import type { Api } from '../../main/proxy/dialects/dialect.js';
import { BASH, type Rig, startRig } from './support.js';

const CUT = { calls: [{ name: 'bash', arguments: '{"command": "rm -r /home/me' }] };
const input = [{ role: 'user', content: 'Go.' }];
const tool = { name: 'bash', parameters: BASH.function.parameters };
const ASKED: Record<Api, [path: string, body: object]> = {
  chat: ['chat/completions', { messages: input, tools: [BASH] }],
  responses: ['responses', { input, tools: [{ type: 'function', ...tool }] }],
  messages: ['messages', { max_tokens: 9, messages: input, tools: [{ name: 'bash', input_schema: tool.parameters }] }],
};

/** As the rules that ship: what is no JSON is blocked. */
const startStrict = (): Promise<Rig> => startRig({}, GUARD);
const GUARD: Parameters<typeof startRig>[1] = () => ({
  checkResponse: ({ toolCalls }) =>
    toolCalls.map(({ id }) => ({
      toolCallId: id,
      verdict: 'block' as const,
      stage: 1 as const,
      rule: 'stage1.arguments',
      severity: 'high' as const,
      reason: 'arguments are not valid JSON',
      ms: 0,
    })),
  blockedNotice: (name, reason) => `[tackroom] blocked call to \`${name}\`: ${reason}`,
});

it.each(['chat', 'responses', 'messages'] as const)('in %s, streamed and whole', async (api) => {
  const rig = await startStrict();
  rig.engine.script(CUT, CUT);
  for (const stream of [true, false]) {
    const reply = await rig.post(`/pi/v1/${ASKED[api][0]}`, { model: 'm', stream, ...ASKED[api][1] });
    expect([api, stream, reply.status]).toEqual([api, stream, 200]);
    expect(reply.text).toContain('"bash"');
    expect(reply.text).not.toContain('/home/me');
    expect(reply.text).not.toContain('[tackroom]');
  }
  // Recorded as it was sampled, and as blocked.
  expect(rig.store.toolCall.list().map(({ arguments: text, verdict }) => [text, verdict])).toEqual([
    [CUT.calls[0]!.arguments, 'block'],
    [CUT.calls[0]!.arguments, 'block'],
  ]);
  await rig.close();
});

it('not in a rollout', async () => {
  const rig = await startStrict();
  rig.engine.script(CUT);
  const worker = await rig.worker('w');
  expect((await worker.chat({ messages: input, tools: [BASH] })).text).toContain('[tackroom] blocked call');
  await rig.close();
});
