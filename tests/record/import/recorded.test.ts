/** Sessions that were recorded through the gateway and are imported too. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Session } from '../../../contract/records.js';
import type { ChatMessage } from '../../../main/engine/protocol.js';
import { type NewRequest, Recorder } from '../../../main/record/recorder.js';
import { changeRecordingSettings } from '../../../main/record/settings.js';
import { ask, callBash, request, result, say, system, user } from '../support.js';
import { contents, type Home, openTestHome } from './support.js';

const BEGAN = Date.UTC(2026, 10, 30, 9);
const CWD = '/home/dev/calc';
let at: Home;
let recorder: Recorder;
let file: string;
beforeEach(() => {
  at = openTestHome();
  recorder = new Recorder(at.store);
  file = join(at.home, 'session.jsonl');
});
afterEach(() => at.close());

/** Three turns as pi keeps them; `ids`: what the server called its answers. */
function writePi(ids: (string | undefined)[] = [], answers: Partial<Record<number, string>> = {}): void {
  const turns: [string, object[]][] = [
    ['Run the test', [{ type: 'toolCall', id: 'c1', name: 'bash', arguments: { command: 'make test' } }]],
    ['', [{ type: 'text', text: 'It fails.' }]],
    ['Why?', [{ type: 'text', text: 'A sign is wrong.' }]],
  ];
  const lines: object[] = [
    { type: 'session', version: 3, id: 'pi-1', timestamp: new Date(BEGAN).toISOString(), cwd: CWD },
  ];
  let parentId: string | null = null;
  const put = (second: number, message: object): void => {
    const id = `e${lines.length}`;
    const timestamp = new Date(BEGAN + second * 1000).toISOString();
    lines.push({ type: 'message', id, parentId, timestamp, message });
    parentId = id;
  };
  turns.forEach(([question, content], i) => {
    if (question !== '') put(i * 10, { role: 'user', content: question });
    const text = answers[i];
    put(i * 10 + 2, {
      role: 'assistant',
      content: text === undefined ? content : [{ type: 'text', text }],
      stopReason: 'stop',
      model: 'small',
      responseId: ids[i],
    });
    if (i === 0 && text === undefined)
      put(5, {
        role: 'toolResult',
        toolCallId: 'c1',
        toolName: 'bash',
        content: 'red\n\nCommand exited with code 2',
        isError: true,
      });
  });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

const call = callBash('c1', 'make test');
const conversation: ChatMessage[] = [
  system,
  ask('Run the test'),
  call,
  result('c1', 'red\n\nCommand exited with code 2'),
  say('It fails.'),
  ask('Why?'),
];
/** The same turns as the gateway saw them. */
const TURNS: [ChatMessage[], ChatMessage][] = [
  [conversation.slice(0, 2), call],
  [conversation.slice(0, 4), say('It fails.')],
  [conversation, say('A sign is wrong.')],
];
function record(turns: number[], ids: (string | undefined)[] = [], more: Partial<NewRequest> = {}): string {
  const made = turns.map((i) => {
    const [messages, answer] = TURNS[i]!;
    const responseId = ids[i];
    const createdAt = BEGAN + i * 10_000 + 1000;
    return recorder.record(request(messages, answer, { createdAt, ...(responseId && { responseId }), ...more }));
  });
  return made[0]!.sessionId;
}
const imported = (): Session[] => at.store.session.list({ where: { origin: 'import' } });

for (const [how, ids] of [
  ['by what the server called its answers', ['chatcmpl-1', 'chatcmpl-2', 'chatcmpl-3']],
  ['by question, answer and time where nothing has a name', []],
] as const)
  it(`is there once, ${how}`, async () => {
    const id = record([0, 1, 2], [...ids]);
    const messages = contents(at.store).message;
    writePi([...ids]);
    const first = await at.import(file);
    expect(first.skipped).toEqual([{ path: file, line: null, reason: `3 requests are on record already, in ${id}` }]);
    expect(first.sessions).toMatchObject([{ session: { id, origin: 'user', cwd: CWD }, added: 0 }]);
    expect(imported()).toEqual([]);
    expect(contents(at.store).message).toEqual(messages);
    expect(at.store.toolCall.list()).toMatchObject([{ callId: 'c1', exitCode: 2, isError: true }]);
    const before = contents(at.store);
    expect(await at.import(file)).toEqual(first);
    expect(contents(at.store)).toEqual(before);
  });

it('the answers of our own engine are known by their request', async () => {
  const id = record([0, 1, 2]);
  const own = at.requests(id).map((one) => `chatcmpl-${one.id}`);
  writePi(own);
  expect((await at.import(file)).sessions).toMatchObject([{ session: { id }, added: 0 }]);
});

it('what was asked elsewhere is imported, and nothing twice', async () => {
  const ids = ['chatcmpl-1', 'chatcmpl-2', 'chatcmpl-3'];
  const id = record([0, 1], ids);
  writePi(ids);
  const { sessions, skipped } = await at.import(file);
  expect(skipped[0]?.reason).toBe(`2 requests are on record already, in ${id}; the others are imported`);
  const [session] = imported();
  expect(sessions).toMatchObject([{ session: { id: session!.id, requests: 1 }, added: 1 }]);
  expect(at.requests(session!.id)).toMatchObject([{ responseId: 'chatcmpl-3' }]);
  // The whole conversation can be read in it.
  expect(recorder.sessionTranscript(session!.id)?.steps.map(({ kind }) => kind)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'assistant',
  ]);
  recorder.deleteSession(session!.id);
  expect(recorder.sessionTranscript(id)?.steps).toHaveLength(5);
});

it('the notice that took the place of a blocked call is that request', async () => {
  const ids = ['chatcmpl-1', 'chatcmpl-2', 'chatcmpl-3'];
  const id = record([0], ids, {
    toolCalls: [{ callId: 'c1', name: 'bash', arguments: '{}', verdict: 'block' }],
  });
  writePi(ids, { 0: '[tackroom] blocked call to `bash`: no' });
  const { sessions } = await at.import(file);
  expect(sessions).toMatchObject([{ added: 2 }]);
  expect(imported()[0]?.id).not.toBe(id);
  expect(at.requests(imported()[0]!.id).map(({ responseId }) => responseId)).toEqual(['chatcmpl-2', 'chatcmpl-3']);
});

it('a server that gives every answer the same name loses none', async () => {
  record([1], ['same', 'same', 'same']);
  writePi(['same', 'same', 'same']);
  expect((await at.import(file)).sessions).toMatchObject([{ added: 2 }]);
});

it('a session of the same name is the same, wherever its time lies within minutes', async () => {
  const session = { ...user, harnessSessionId: 'pi-1' };
  const id = record([0, 1, 2], [], { session, createdAt: BEGAN - 120_000 });
  writePi();
  expect((await at.import(file)).sessions).toMatchObject([{ session: { id }, added: 0 }]);
});

it('other harnesses, other answers and other days are other requests', async () => {
  record([0, 1, 2], [], { session: { ...user, harness: 'hermes' } });
  record([0, 1, 2], [], { createdAt: BEGAN - 86_400_000, session: { ...user, harnessSessionId: 'pi-2' } });
  writePi();
  expect((await at.import(file)).sessions).toMatchObject([{ added: 3 }]);
});

it('comes back with its file when the recorded one was deleted', async () => {
  const id = record([0, 1, 2]);
  writePi();
  await at.import(file);
  recorder.deleteSession(id);
  expect((await at.import(file)).sessions).toMatchObject([{ session: { origin: 'import' }, added: 3 }]);
});

it('does not take in what works in an excluded folder', async () => {
  changeRecordingSettings(at.store, (settings) => ({ ...settings, excluded: ['/home/dev'] }));
  writePi();
  const { sessions, skipped } = await at.import(file);
  expect(sessions).toEqual([]);
  expect(skipped).toEqual([{ path: file, line: null, reason: 'works in /home/dev, which is excluded from recording' }]);
  expect(Object.values(contents(at.store)).flat()).toEqual([]);
});
