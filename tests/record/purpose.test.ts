/** What a request is for, over every recorded request of the real harnesses, and over their prompts as they really are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Harness, Purpose } from '../../contract/records.js';
import { type Api, DIALECTS } from '../../main/proxy/dialects/dialect.js';
import type { RawBody } from '../../main/proxy/dialects/parse.js';
import { purposeOf } from '../../main/record/purpose.js';
import { describeShared } from '../support/shared.js';

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
