import { describe, expect, it } from 'vitest';
import type { Session } from '../../contract/records.js';
import { readPiSession } from '../../main/envs/pi-session.js';
import { recordedTrace } from '../../main/envs/recorded-session.js';
import type { AssistantStep, TranscriptStep } from '../../main/record/transcript.js';

const lines = (...entries: object[]) => entries.map((entry) => JSON.stringify(entry)).join('\n');
const header = { type: 'session', version: 3, id: 's1', cwd: '/home/dev/proj/' };
const message = (id: string, parentId: string | null, body: object) => ({
  type: 'message',
  id,
  parentId,
  message: body,
});
const asks = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });
const calls = (id: string, command: string) => ({
  role: 'assistant',
  content: [{ type: 'toolCall', id, name: 'bash', arguments: { command } }],
});
const result = (id: string, text: string, isError = false) => ({
  role: 'toolResult',
  toolCallId: id,
  content: [{ type: 'text', text }],
  isError,
});

describe('readPiSession', () => {
  it('follows the active branch from the last entry to the root', () => {
    const text = lines(
      header,
      message('a', null, asks('first')),
      message('b', 'a', calls('c1', 'ls')),
      message('c', 'b', result('c1', 'left behind')),
      message('d', 'a', calls('c2', 'pwd')),
      message('e', 'd', result('c2', '/home', true)),
    );
    const trace = readPiSession(`${text}\n{"type":"message","id":"f","paren`);
    expect(trace).toEqual({
      id: 's1',
      cwd: '/home/dev/proj',
      events: [
        { kind: 'user', text: 'first' },
        { kind: 'call', name: 'bash', arguments: { command: 'pwd' }, output: '/home', isError: true },
      ],
    });
  });

  it('reads old linear files and calls without a result', () => {
    const old = [asks('go'), calls('c1', 'ls')].map((body) => ({ type: 'message', message: body }));
    const { events } = readPiSession(lines({ type: 'session', id: 's', cwd: '/w' }, ...old));
    expect(events).toMatchObject([{ kind: 'user' }, { kind: 'call', output: null }]);
  });

  it('does not loop on entries that are their own ancestors, and refuses other files', () => {
    expect(
      readPiSession(lines(header, message('a', 'b', asks('x')), message('b', 'a', asks('y')))).events,
    ).toHaveLength(2);
    expect(() => readPiSession('{"type":"user"}')).toThrow(/no pi session/);
    expect(() => readPiSession('')).toThrow(/no pi session/);
  });
});

describe('recordedTrace', () => {
  const answer = (toolCalls: AssistantStep['toolCalls'], more: Partial<AssistantStep> = {}): AssistantStep => ({
    kind: 'assistant',
    requestId: 'r',
    at: 0,
    text: '',
    toolCalls,
    promptTokens: 0,
    completionTokens: 0,
    firstTokenMs: null,
    durationMs: 0,
    adapterHash: null,
    finish: 'tool_calls',
    status: 'ok',
    error: null,
    synthetic: false,
    upstream: null,
    auxiliary: false,
    ...more,
  });
  const sampled = (id: string, name: string, args: object, verdict: 'allow' | 'block' = 'allow') => ({
    id,
    name,
    arguments: JSON.stringify(args),
    verdict,
    rule: null,
    reason: null,
  });
  const trace = (...steps: TranscriptStep[]) => recordedTrace({ session: { id: 's' } as Session, steps });

  it('takes the folder from the system prompt, failures from the words of the tools, and no auxiliary turns', () => {
    const { cwd, events } = trace(
      { kind: 'system', at: 0, text: 'You are…\n<cwd>\n/work/app\n</cwd>' },
      { kind: 'user', at: 0, text: 'go' },
      answer([], { text: 'a title', auxiliary: true }),
      answer([
        sampled('1', 'edit', { path: 'a' }),
        sampled('2', 'bash', { command: 'false' }),
        sampled('3', 'read', { path: 'b' }),
      ]),
      { kind: 'tool', at: 0, toolCallId: '1', text: 'Could not find the exact text in a.' },
      { kind: 'tool', at: 0, toolCallId: '2', text: '(no output)\n\nCommand exited with code 1' },
      { kind: 'tool', at: 0, toolCallId: '3', text: 'x = 1\n' },
    );
    expect(cwd).toBe('/work/app');
    expect(events.map((event) => (event.kind === 'call' ? [event.name, event.isError] : event.text))).toEqual([
      'go',
      ['edit', true],
      ['bash', true],
      ['read', false],
    ]);
  });

  it('says what was blocked instead of playing it, and nothing twice after a rewrite of the history', () => {
    const call = sampled('1', 'bash', { command: 'ls' });
    const { events } = trace(
      { kind: 'user', at: 0, text: 'go' },
      answer([call, sampled('2', 'bash', { command: 'curl evil' }, 'block')]),
      { kind: 'tool', at: 0, toolCallId: '1', text: 'a' },
      { kind: 'rewrite', at: 0, kept: 1 },
      { kind: 'user', at: 0, text: 'go' },
      answer([call], { requestId: null }),
      { kind: 'user', at: 0, text: 'more' },
    );
    expect(events).toEqual([
      { kind: 'user', text: 'go' },
      { kind: 'call', name: 'bash', arguments: { command: 'ls' }, output: 'a', isError: false },
      { kind: 'text', text: expect.stringContaining('blocked call to `bash`') },
      { kind: 'user', text: 'more' },
    ]);
  });
});
