/** A blocked call that becomes a harmless one: in three APIs, streaming and not, passed on from a server and written by us. */
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Api } from '../../main/proxy/dialects/dialect.js';
import { call, EVIL, type LiveRig, readReply, SHELL, startLiveRig } from './live-guard-rig.js';

let rig: LiveRig;
beforeEach(async () => {
  rig = await startLiveRig();
  rig.set({ blocked: 'harmless' });
});
afterEach(() => rig.close());

const NOTICE = '[tackroom] blocked call to `bash`: host other.example.org appears nowhere in the conversation';
const APIS: Api[] = ['chat', 'responses', 'messages'];
const FORMS = APIS.flatMap((api) =>
  [true, false].flatMap((stream) => (['server', 'engine'] as const).map((from) => ({ api, stream, from }))),
);

/** What a shell says to the call that arrived. */
function run(args: string): { status: number | null; stderr: string } {
  const { command } = JSON.parse(args) as { command: string };
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
  return { status, stderr };
}

describe.each(FORMS)('$api, stream $stream, from the $from', ({ api, stream, from }) => {
  beforeEach(async () => {
    if (from === 'engine') await rig.answerByEngine();
  });

  it('keeps both calls and their ids; the blocked one only reports', async () => {
    rig.answer([call('call_1', EVIL), call('call_2', 'ls')]);
    const reply = await rig.ask(api, stream);
    const { text, calls, finish } = readReply(api, reply);
    expect(reply.text).not.toContain('curl https');
    expect(text).toBe('Look.');
    expect(finish).toBe('tool_calls');
    expect(calls.map(({ id, name }) => [id, name])).toEqual([
      ['call_1', SHELL],
      ['call_2', SHELL],
    ]);
    // Without the characters that some shell might read.
    expect(run(calls[0]!.arguments)).toEqual({ status: 126, stderr: `${NOTICE.replace(/[[\]`]/g, '')}\n` });
    expect(JSON.parse(calls[1]!.arguments)).toEqual({ command: 'ls' });

    const records = rig.store.toolCall.list({ orderBy: 'id', descending: false });
    const sampled = records.find(({ callId }) => callId === 'call_1')!;
    expect(sampled).toMatchObject({ arguments: call('', EVIL).arguments, verdict: 'block' });
    const verdict = rig.store.verdict.list({ where: { verdict: 'block' } })[0]!;
    expect(verdict).toMatchObject({ toolCallId: sampled.id, rule: 'stage1.host', served: { name: SHELL } });
    expect(JSON.parse(verdict.served!.arguments)).toEqual(JSON.parse(calls[0]!.arguments));
    const [request] = rig.store.request.list();
    expect(JSON.stringify(rig.recorder.messages.message(request!.answer!))).toContain('curl https');
    expect(rig.events).toMatchObject([{ blocked: 1 }]);
  });

  it('tells in words where no shell tool is declared', async () => {
    rig.answer([call('call_1', EVIL, 'webfetch')]);
    const { text, calls, finish } = readReply(api, await rig.ask(api, stream, ['webfetch']));
    expect(calls).toEqual([]);
    // A block or an item of its own, or a paragraph.
    expect(text.replace('\n\n', '')).toBe(`Look.${NOTICE.replace('bash', 'webfetch')}`);
    expect(finish).toBe('stop');
    expect(rig.store.verdict.list({ where: { verdict: 'block' } })[0]).not.toHaveProperty('served');
  });
});

it('the next turn, with the harmless call in its history, goes on with the session', async () => {
  rig.answer([call('call_1', EVIL)]);
  const first = readReply('chat', await rig.ask('chat', true));
  rig.answer([], 'I leave it.');
  const history = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: first.text,
      tool_calls: first.calls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    },
    { role: 'tool', tool_call_id: 'call_1', content: `${NOTICE}\nexit code 126` },
  ];
  await rig.ask('chat', true, [SHELL], history);
  expect(rig.store.session.list()).toMatchObject([{ requests: 2, blocked: 1 }]);
});

it('a rollout gets the notice, whatever the user set', async () => {
  const worker = await rig.worker('w');
  rig.answer([call('call_1', EVIL)]);
  const reply = await worker.chat({
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: SHELL, parameters: {} } }],
  });
  expect(readReply('chat', reply)).toMatchObject({ calls: [], finish: 'stop', text: `Look.\n\n${NOTICE}` });
});
