import { describe, expect, it } from 'vitest';
import { MAX_STEP_TEXT, TranscriptStep } from '../../contract/transcript.js';
import type { AssistantStep, TranscriptStep as RecordedStep } from '../../main/record/transcript.js';
import { transcriptView } from '../../main/window/transcript-view.js';

const assistant = (calls: string[]): AssistantStep => ({
  kind: 'assistant',
  requestId: 'req',
  at: 1,
  text: '',
  toolCalls: calls.map((id) => ({ id, name: 'bash', arguments: '{}', verdict: 'allow', rule: null, reason: null })),
  promptTokens: 1,
  completionTokens: 1,
  firstTokenMs: 1,
  durationMs: 1,
  adapterHash: null,
  finish: 'tool_calls',
  status: 'ok',
  error: null,
  synthetic: false,
  upstream: null,
  auxiliary: false,
});
const result = (toolCallId: string, text: string): RecordedStep => ({ kind: 'tool', at: 2, toolCallId, text });

describe('transcriptView', () => {
  it('puts each result beside the call it answers, in any order', () => {
    const [step] = transcriptView([assistant(['a', 'b']), result('b', 'of b'), result('a', 'of a')]);
    expect(step).toMatchObject({
      kind: 'agent',
      calls: [
        { callId: 'a', result: 'of a' },
        { callId: 'b', result: 'of b' },
      ],
    });
  });

  it('gives a repeated call id to the newest call', () => {
    const steps = transcriptView([assistant(['a']), result('a', 'first'), assistant(['a']), result('a', 'second')]);
    expect(steps).toMatchObject([{ calls: [{ result: 'first' }] }, { calls: [{ result: 'second' }] }]);
  });

  it('keeps results that answer nothing as steps of their own', () => {
    const steps = transcriptView([result('x', 'orphan'), assistant(['a']), result('a', 'one'), result('a', 'again')]);
    expect(steps.map(({ kind }) => kind)).toEqual(['tool', 'agent', 'tool']);
  });

  it('passes on what an import knows: exit codes, and user messages that nobody typed', () => {
    const steps = transcriptView([
      { kind: 'user', at: 0, text: 'Go on.', mark: 'nudge' },
      assistant(['a']),
      { kind: 'tool', at: 2, toolCallId: 'a', text: 'no', exitCode: 3, isError: true },
    ]);
    expect(steps).toMatchObject([{ kind: 'user', mark: 'nudge' }, { calls: [{ result: 'no', exitCode: 3 }] }]);
    for (const step of steps) expect(TranscriptStep.safeParse(step).success).toBe(true);
  });

  it('cuts texts beyond the limit and counts what it cut', () => {
    const long = 'x'.repeat(MAX_STEP_TEXT + 7);
    const steps = transcriptView([
      { kind: 'user', at: 0, text: long },
      assistant(['a']),
      result('a', long),
      { kind: 'rewrite', at: 3, kept: 2 },
    ]);
    expect(steps).toMatchObject([{ clipped: 7 }, { calls: [{ clipped: 7 }] }, { kept: 2 }]);
    for (const step of steps) expect(TranscriptStep.safeParse(step).success).toBe(true);
  });
});
