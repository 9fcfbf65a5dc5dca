import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../main/engine/protocol.js';
import { Recorder } from '../../main/record/recorder.js';
import { openStore, type Store } from '../../main/store/store.js';
import { ask, BASH, callBash, request, result, say, system, temporaryHome, user } from './support.js';

let folder: ReturnType<typeof temporaryHome>;
let store: Store;
let recorder: Recorder;
beforeEach(() => {
  folder = temporaryHome();
  store = openStore(folder.home);
  recorder = new Recorder(store);
});
afterEach(() => {
  store.close();
  folder.remove();
});
const rows = (table: string): number =>
  (store.db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;

describe('messages', () => {
  it('reads a prompt back and stores each message once', () => {
    const first = [system, ask('List the files.')];
    const second = [...first, callBash('c1', 'ls'), result('c1', 'a.txt')];
    recorder.record(request(first, callBash('c1', 'ls')));
    const { promptNode, answer } = recorder.record(request(second, say('One file: a.txt.')));
    expect(recorder.promptMessages(promptNode)).toEqual(second);
    expect(recorder.messages.message(answer!)).toEqual(say('One file: a.txt.'));
    expect(rows('message')).toBe(5);
    expect(rows('message_node')).toBe(5);
    expect(rows('tools')).toBe(1);
    expect(recorder.messages.tools(store.request.list()[0]!.toolsHash!)).toEqual([BASH]);
  });

  it('keeps fields it does not know', () => {
    const part = { type: 'text', text: 'hé', cache_control: { type: 'ephemeral' } };
    const odd: ChatMessage = {
      role: 'user',
      content: [part],
    };
    const { promptNode } = recorder.record(request([odd], say('ok')));
    expect(recorder.promptMessages(promptNode)).toEqual([odd]);
  });
});

describe('grouping', () => {
  it('follows the harness session id', () => {
    const withId = { session: { ...user, harnessSessionId: 'uuid-1' } };
    const a = recorder.record(request([system, ask('one')], say('1'), withId));
    const b = recorder.record(request([system, ask('quite another')], say('2'), withId));
    const c = recorder.record(
      request([system, ask('one')], say('1'), { session: { ...user, harnessSessionId: 'uuid-2' } }),
    );
    const d = recorder.record(
      request([system, ask('one')], say('1'), {
        session: { ...user, harness: 'opencode', harnessSessionId: 'uuid-1' },
      }),
    );
    expect(b.sessionId).toBe(a.sessionId);
    expect(b.seq).toBe(1);
    expect(new Set([a.sessionId, c.sessionId, d.sessionId]).size).toBe(3);
  });

  it('follows the longest prefix, even when the harness re-serialises what it was answered', () => {
    const first = [system, ask('List the files.')];
    const a = recorder.record(request(first, { ...callBash('c1', 'ls'), content: '' }));
    const b = recorder.record(request([...first, callBash('c1', 'ls'), result('c1', 'x')], say('x')));
    expect(b.sessionId).toBe(a.sessionId);
    expect(store.session.get(a.sessionId)).toMatchObject({ requests: 2, toolCalls: 1, title: 'List the files.' });
  });

  it('tells two sessions with the same beginning apart by what they were answered', () => {
    const first = [system, ask('List the files.')];
    const a = recorder.record(request(first, callBash('c1', 'ls')));
    const b = recorder.record(request(first, callBash('c2', 'ls -a')));
    expect(b.sessionId).not.toBe(a.sessionId);
    const a2 = recorder.record(request([...first, callBash('c1', 'ls'), result('c1', 'x')], say('x')));
    const b2 = recorder.record(request([...first, callBash('c2', 'ls -a'), result('c2', '. x')], say('x')));
    expect([a2.sessionId, b2.sessionId]).toEqual([a.sessionId, b.sessionId]);
  });

  it('puts a repeat after a failure into the session that failed', () => {
    const prompt = [system, ask('Hello')];
    const failed = recorder.record(
      request(prompt, say('He'), { status: 'error', error: 'SERVICE_GONE', finish: 'error' }),
    );
    const again = recorder.record(request(prompt, say('Hello.')));
    expect(again.sessionId).toBe(failed.sessionId);
    const tomorrow = { createdAt: failed.createdAt + 86_400_000 };
    expect(recorder.record(request(prompt, say('Hello.'), tomorrow)).sessionId).not.toBe(failed.sessionId);
  });

  it('keeps a worker to its own sessions, whatever the prompts', () => {
    const worker = (key: string) => ({
      session: { ...user, origin: 'rollout' as const, rolloutId: key, workerKey: key },
    });
    const prompt = [system, ask('Hello')];
    const a = recorder.record(request(prompt, say('1'), worker('w#0')));
    const b = recorder.record(request(prompt, say('2'), worker('w#1')));
    const c = recorder.record(request([system, ask('compacted')], say('3'), worker('w#0')));
    expect(c.sessionId).toBe(a.sessionId);
    expect(b.sessionId).not.toBe(a.sessionId);
    recorder.releaseWorker('w#0');
    expect(recorder.record(request(prompt, say('4'), worker('w#0'))).sessionId).not.toBe(a.sessionId);
  });
});

describe('transcript', () => {
  it('merges the requests, with verdicts, and keeps titles aside', () => {
    const session = { ...user, harnessSessionId: 's' };
    const first = [system, ask('Delete everything.')];
    recorder.record(
      request([{ role: 'system', content: 'You are a title generator' }, ask('Delete everything.')], say('Deleting'), {
        session,
        tools: [],
      }),
    );
    recorder.record(
      request(first, callBash('c1', 'rm -rf /'), {
        session,
        toolCalls: [{ callId: 'c1', name: 'bash', arguments: '{"command":"rm -rf /"}', verdict: 'block' }],
        verdicts: [
          {
            callId: 'c1',
            verdict: 'block',
            stage: 2,
            rule: 'tamper.x',
            severity: 'high',
            reason: 'It deletes everything.',
            ms: 1,
          },
        ],
      }),
    );
    recorder.record(
      request([...first, say('[tackroom] blocked'), ask('Then list it.')], callBash('c2', 'ls'), { session }),
    );
    recorder.record(
      request(
        [...first, say('[tackroom] blocked'), ask('Then list it.'), callBash('c2', 'ls'), result('c2', 'a.txt')],
        say('a.txt'),
        { session },
      ),
    );
    const { steps } = recorder.sessionTranscript(store.session.list()[0]!.id)!;
    expect(
      steps.map((step) =>
        step.kind === 'assistant'
          ? `${step.kind}${step.auxiliary ? ' aux' : ''}`
          : `${step.kind}:${'text' in step ? step.text : ''}`,
      ),
    ).toEqual([
      'assistant aux',
      'system:You are a coding agent.',
      'user:Delete everything.',
      'assistant',
      'user:Then list it.',
      'assistant',
      'tool:a.txt',
      'assistant',
    ]);
    expect(steps[3]).toMatchObject({
      toolCalls: [{ id: 'c1', verdict: 'block', rule: 'tamper.x', reason: 'It deletes everything.' }],
    });
    expect(store.session.list()[0]).toMatchObject({ toolCalls: 2, blocked: 1, requests: 4 });
  });

  it('marks where the harness rewrote its history', () => {
    const session = { ...user, harnessSessionId: 's' };
    recorder.record(request([system, ask('a'), say('b'), ask('c')], say('d'), { session }));
    recorder.record(request([system, ask('summary of it all')], say('e'), { session }));
    const { steps } = recorder.sessionTranscript(store.session.list()[0]!.id)!;
    expect(steps.map((step) => step.kind)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'rewrite',
      'user',
      'assistant',
    ]);
    expect(steps[5]).toMatchObject({ kind: 'rewrite', kept: 1 });
  });
});

describe('deleting', () => {
  it('removes what only the session referred to and nothing else', () => {
    const mine = { session: { ...user, harnessSessionId: 'mine' } };
    const other = { session: { ...user, harnessSessionId: 'other' } };
    const first = [system, ask('List the files.')];
    const kept = recorder.record(request(first, callBash('c1', 'ls'), mine));
    const tokens = { promptIds: [1, 2, 3], completionIds: [4], logprobs: [-1] };
    const gone = recorder.record(
      request([...first, callBash('c2', 'ls -a'), result('c2', 'secret')], say('secret!'), { ...other, tokens }),
    );
    const before = rows('message');
    expect(recorder.deleteSession(gone.sessionId)).toBe(true);
    expect(before - rows('message')).toBe(3);
    expect(rows('request_tokens')).toBe(0);
    expect(recorder.promptMessages(kept.promptNode)).toEqual(first);
    expect(recorder.messages.message(kept.answer!)).toEqual(callBash('c1', 'ls'));
    expect(recorder.deleteSession(gone.sessionId)).toBe(false);
    recorder.deleteSession(kept.sessionId);
    for (const table of [
      'session',
      'request',
      'toolCall',
      'verdict',
      'message',
      'message_node',
      'tools',
      'request_tokens',
    ])
      expect([table, rows(table)]).toEqual([table, 0]);
  });

  it('keeps an answer that another request replays', () => {
    const first = [system, ask('Hello')];
    const a = recorder.record(request(first, say('Hi'), { session: { ...user, harnessSessionId: 'a' } }));
    const b = recorder.record(
      request([...first, say('Hi'), ask('Bye')], say('Bye'), { session: { ...user, harnessSessionId: 'b' } }),
    );
    recorder.deleteSession(a.sessionId);
    expect(recorder.promptMessages(b.promptNode)).toEqual([...first, say('Hi'), ask('Bye')]);
  });
});
