import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentStep, TranscriptCall } from '../../contract/transcript.js';
import { FoldedText } from '../../renderer/parts/folded-text.js';
import { SwapDialog } from '../../renderer/parts/swap-dialog.js';
import { ToolCallView } from '../../renderer/parts/tool-call.js';
import { TranscriptStepView } from '../../renderer/parts/transcript-step.js';

afterEach(cleanup);

describe('FoldedText', () => {
  const text = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n');

  it('opens and folds by its button and by the switch above', () => {
    const { rerender, container } = render(<FoldedText text={text} expanded={false} />);
    const shown = (): number => container.querySelector('pre')?.textContent?.split('\n').length ?? 0;
    expect(shown()).toBe(20);
    fireEvent.click(screen.getByRole('button', { name: '10 more lines' }));
    expect(shown()).toBe(30);
    expect(screen.getByRole('button', { name: 'Fold' }).getAttribute('aria-expanded')).toBe('true');
    rerender(<FoldedText text={text} expanded />);
    rerender(<FoldedText text={text} expanded={false} />);
    expect(shown()).toBe(20);
  });

  it('never makes markup of text', () => {
    const { container } = render(<FoldedText text={'<script>x</script><b onclick="x">b</b>'} expanded />);
    expect(container.querySelectorAll('script, b')).toHaveLength(0);
    expect(container.querySelector('pre')?.textContent).toBe('<script>x</script><b onclick="x">b</b>');
  });
});

describe('TranscriptStepView', () => {
  const base: AgentStep = {
    kind: 'agent',
    text: 'Small fixes',
    clipped: 0,
    at: 1,
    requestId: 'req',
    calls: [],
    promptTokens: 1,
    completionTokens: 1,
    firstTokenMs: 1,
    durationMs: 1,
    adapterHash: null,
    finish: 'stop',
    status: 'ok',
    error: null,
    synthetic: false,
    upstream: null,
    auxiliary: false,
  };

  it.each<[string | null, Partial<AgentStep>]>([
    [null, { purpose: 'main' }],
    ['for a title', { auxiliary: true, purpose: 'title' }],
    ['to judge a command', { auxiliary: true, purpose: 'approval' }],
    ['beside the conversation', { auxiliary: true }],
    ['a helper of another session', { purpose: 'subagent' }],
  ])('says what a request was for: %s', (label, more) => {
    const { container } = render(<TranscriptStepView step={{ ...base, ...more }} expanded={false} />);
    expect(container.querySelector('.pill')?.textContent ?? null).toBe(label);
  });
});

describe('ToolCallView', () => {
  const call: TranscriptCall = {
    callId: 'c',
    name: 'bash',
    arguments: '{"command":"ls"}',
    verdict: 'allow',
    rule: null,
    reason: null,
    result: null,
    clipped: 0,
  };

  it('marks what was blocked, in words, and can be jumped to', () => {
    const { container } = render(
      <ToolCallView call={{ ...call, verdict: 'block', rule: 'r1', reason: 'Because.' }} expanded={false} />,
    );
    expect(screen.getByText('blocked')).toBeTruthy();
    expect(screen.getByText('Because.')).toBeTruthy();
    expect(container.querySelector('[data-blocked]')).toBeTruthy();
  });

  it('tells a missing result from an empty one', () => {
    const { rerender } = render(<ToolCallView call={call} expanded={false} />);
    expect(screen.getByText('No result was sent back.')).toBeTruthy();
    rerender(<ToolCallView call={{ ...call, result: '' }} expanded={false} />);
    expect(screen.queryByText('No result was sent back.')).toBeNull();
  });
});

describe('SwapDialog', () => {
  const view = {
    adapter: {
      id: 'a',
      version: 1 as const,
      createdAt: 0,
      hash: 'abcdef0123456789',
      name: 'new one',
      baseModel: 'm',
      runId: null,
      checkpointId: null,
      dir: '/',
      rank: 8,
      alpha: 16,
      pass1: null,
      bytes: 1,
    },
    runName: null,
    step: null,
    servedTo: ['pi' as const],
  };
  const deployment = {
    id: 'd',
    version: 1 as const,
    createdAt: 0,
    harness: 'pi' as const,
    adapterId: 'a',
    adapterHash: 'abc',
    previousId: null,
  };

  it('offers a harness that does not have the adapter yet, and not the one that has', () => {
    render(
      <SwapDialog
        view={view}
        deployments={[{ harness: 'pi', deployment, adapterName: 'new one', pass1: null }]}
        onClose={() => undefined}
      />,
    );
    const button = screen.getByText('Swap now').closest('button');
    expect((screen.getByLabelText('opencode') as HTMLInputElement).checked).toBe(true);
    expect(button?.disabled).toBe(false);
    expect(screen.getByText('Base model').tagName).toBe('DEL');
    fireEvent.click(screen.getByLabelText('pi'));
    expect(button?.disabled).toBe(true);
  });
});
