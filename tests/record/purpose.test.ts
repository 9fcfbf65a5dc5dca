/** What a request is for, over every recorded request of the real harnesses, and over their prompts as they really are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Harness, Purpose } from '../../contract/records.js';
import type { ChatMessage } from '../../main/engine/protocol.js';
import { type Api, DIALECTS } from '../../main/proxy/dialects/dialect.js';
import type { RawBody } from '../../main/proxy/dialects/parse.js';
import { type AskedFor, purposeOf } from '../../main/record/purpose.js';
import { Recorder } from '../../main/record/recorder.js';
import { openStore } from '../../main/store/store.js';
import { describeShared } from '../support/shared.js';
import {
  system as agentPrompt,
  callBash,
  user as pi,
  request,
  result,
  say,
  temporaryHome,
  ask as user,
} from './support.js';

interface Recorded {
  name: string;
  harness: Harness;
  api: Api;
  body: RawBody;
  headers: [string, string][];
}

function recorded(root: string): Recorded[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    if (!path.endsWith('.request.json')) return [];
    const { url, body, headers } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      url: string;
      body: unknown;
      headers: [string, string][];
    };
    const api = (['chat', 'responses', 'messages'] as const).find((one) =>
      url.split('?')[0]!.endsWith(DIALECTS[one].path),
    );
    if (api === undefined || typeof body !== 'object' || body === null) return [];
    const harness = path.split('/')[0]!.replace(/-.*/, '') as Harness;
    return [{ name: path, harness, api, body: elided(body as RawBody, api), headers }];
  });
}

/** Lists of tools that the recordings leave out where they repeat: any stands for them. */
function elided(body: RawBody, api: Api): RawBody {
  if (body.tools === undefined) return body;
  const whole = Array.isArray(body.tools) && body.tools.every((tool) => typeof tool === 'object');
  const parameters = { type: 'object', properties: {} };
  const tool =
    api === 'chat'
      ? { type: 'function', function: { name: 'any', parameters } }
      : api === 'responses'
        ? { type: 'function', name: 'any', parameters }
        : { name: 'any', input_schema: parameters };
  return whole ? body : { ...body, tools: [tool] };
}

/** What the recording itself says: the names of its files and scenarios, never what a request looks like. */
function truth({ name, body }: Recorded): Purpose {
  const [harness = '', scenario = '', , file = ''] = name.split('/');
  if (file.includes('-title.')) return 'title';
  if (scenario === 'chat-subagent' && file === '002-chat.request.json') return 'subagent';
  if (file.includes('-aux.')) {
    if (scenario === 'chat-compaction') return 'compaction';
    // The last request at the limit of turns is the conversation itself.
    return scenario === 'chat-dangerous' ? 'approval' : 'main';
  }
  const shortens = /^(?:chat-(?:compaction|ctx\w+|err413)|tree-branches)$/.test(scenario);
  return harness !== 'hermes' && shortens && body.tools === undefined ? 'compaction' : 'main';
}

function judged({ harness, api, body, headers }: Recorded): Purpose {
  const { messages, tools, stream, sampling } = DIALECTS[api].parse(body);
  return purposeOf({
    harness,
    messages,
    hasTools: tools.length > 0,
    stream,
    sampling,
    hasParent: headers.some(([name]) => name.toLowerCase() === 'x-parent-session-id'),
  });
}

describeShared('recorded requests', (dir) => {
  it('are told apart without an error', () => {
    const root = join(dir, 'fixtures/harness');
    const counts = new Map<string, number>();
    const wrong: string[] = [];
    for (const request of recorded(root)) {
      const [is, seems] = [truth(request), judged(request)];
      counts.set(`${is} as ${seems}`, (counts.get(`${is} as ${seems}`) ?? 0) + 1);
      if (is !== seems) wrong.push(`${request.name}: ${is}, taken for ${seems}`);
    }
    console.log([...counts].map(([pair, count]) => `${count} ${pair}`).join(', '));
    expect(wrong).toEqual([]);
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(700);
  });
});

describe('a request is', () => {
  const system = (content: string): ChatMessage => ({ role: 'system', content });
  const agent = [agentPrompt, user('Fix the test.')];
  const worked = [...agent, callBash('c1', 'make'), result('c1', 'done')];
  const base: AskedFor = {
    harness: 'hermes',
    messages: agent,
    hasTools: true,
    stream: true,
    sampling: {},
    hasParent: false,
  };

  it.each<[Purpose, string, Partial<AskedFor>]>([
    ['main', 'a turn that offers tools', {}],
    ['main', 'a chat without tools', { harness: 'pi', hasTools: false }],
    [
      'main',
      'one sent whole by an unknown program',
      { harness: 'unknown', hasTools: false, stream: false, messages: [user('Hi')] },
    ],
    [
      'main',
      'the last one at the limit of turns',
      { hasTools: false, stream: false, messages: [...worked, user('Sum up.')] },
    ],
    [
      'main',
      'a user who asks for a title in the middle',
      { messages: [...worked, user('Generate a title for this.')] },
    ],
    ['subagent', 'one whose harness names a parent', { harness: 'opencode', hasParent: true }],
    [
      'subagent',
      'one of a helper',
      { messages: [system('You are a focused subagent working on one task.'), user('Look.')] },
    ],
    [
      'review',
      'a fork of the conversation',
      { messages: [...worked, user('Review the conversation above and update the skill library.')] },
    ],
    [
      'title',
      'one by its instructions',
      { harness: 'opencode', hasTools: false, messages: [system('You are a title generator.'), user('Hi')] },
    ],
    [
      'title',
      'one by its task',
      { harness: 'opencode', hasTools: false, messages: [user('Generate a title for this conversation:'), user('Hi')] },
    ],
    [
      'title',
      'one by its form',
      {
        hasTools: false,
        stream: false,
        sampling: { temperature: 0.3 },
        messages: [system('Name it.'), user('User: Hi\n\nAssistant: Hello')],
      },
    ],
    [
      'compaction',
      'one with the conversation as a text',
      { harness: 'pi', hasTools: false, messages: [system('Be brief.'), user('<conversation>\n[User]: Hi')] },
    ],
    ['compaction', 'one by its form', { hasTools: false, stream: false, messages: [user('TURNS: …')] }],
    [
      'approval',
      'a judgement at temperature zero',
      { hasTools: false, stream: false, sampling: { temperature: 0 }, messages: [system('Judge.'), user('rm')] },
    ],
    [
      'other',
      'what hermes asks whole for no known reason',
      { hasTools: false, stream: false, messages: [system('Sort these.'), user('a b')] },
    ],
  ])('%s: %s', (purpose, _what, more) => {
    expect(purposeOf({ ...base, ...more })).toBe(purpose);
  });
});

it('gives a session no title of its own, is no turn of it, and is named in its transcript', () => {
  const folder = temporaryHome();
  const store = openStore(folder.home);
  const recorder = new Recorder(store);
  const session = { ...pi, harness: 'opencode' as const, harnessSessionId: 'ses_1' };
  const title = [{ ...agentPrompt, content: 'You are a title generator.' }, user('Title?'), user('Fix the test.')];
  const { sessionId } = recorder.record(request(title, say('A test'), { session, tools: [] }));
  recorder.record(request([agentPrompt, user('Fix the test.')], say('Fixed.'), { session }));
  expect(store.session.get(sessionId)?.title).toBe('Fix the test.');
  const answers = recorder
    .sessionTranscript(sessionId)!
    .steps.flatMap((step) => (step.kind === 'assistant' ? [step] : []));
  expect(answers.map(({ text, auxiliary, purpose }) => [text, auxiliary, purpose])).toEqual([
    ['A test', true, 'title'],
    ['Fixed.', false, 'main'],
  ]);
  store.close();
  folder.remove();
});
