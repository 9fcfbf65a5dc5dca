/** A recorded transcript as the window shows it: tool results beside their calls, very long texts cut and the cut counted. */
import { type AgentStep, MAX_STEP_TEXT, type TranscriptCall, type TranscriptStep } from '../../contract/transcript.js';
import type { AssistantStep, TranscriptStep as RecordedStep } from '../record/transcript.js';

const clip = (text: string): { text: string; clipped: number } => ({
  text: text.slice(0, MAX_STEP_TEXT),
  clipped: Math.max(0, text.length - MAX_STEP_TEXT),
});

export function transcriptView(recorded: readonly RecordedStep[]): TranscriptStep[] {
  const steps: TranscriptStep[] = [];
  const open = new Map<string, TranscriptCall>();
  for (const step of recorded) {
    if (step.kind === 'assistant') {
      const agent = agentStep(step);
      for (const call of agent.calls) open.set(call.callId, call);
      steps.push(agent);
    } else if (step.kind === 'tool') {
      const call = open.get(step.toolCallId);
      const { text, clipped } = clip(step.text);
      if (call && call.result === null) {
        call.result = text;
        call.clipped += clipped;
        if (step.exitCode !== undefined) call.exitCode = step.exitCode;
      } else steps.push({ kind: 'tool', text, clipped, at: step.at });
    } else if (step.kind === 'rewrite') steps.push({ kind: 'rewrite', kept: step.kept, at: step.at });
    else if (step.kind === 'user')
      steps.push({ kind: 'user', ...clip(step.text), at: step.at, ...(step.mark && { mark: step.mark }) });
    else steps.push({ kind: step.kind, ...clip(step.text), at: step.at });
  }
  return steps;
}

function agentStep(step: AssistantStep): AgentStep {
  const { requestId, at, promptTokens, completionTokens, firstTokenMs, durationMs } = step;
  const { adapterHash, finish, status, error, synthetic, upstream, auxiliary, purpose } = step;
  return {
    kind: 'agent',
    ...clip(step.text),
    at,
    requestId,
    calls: step.toolCalls.map(({ id, name, arguments: args, verdict, rule, reason }) => {
      const { text, clipped } = clip(args);
      return { callId: id, name, arguments: text, verdict, rule, reason, result: null, clipped };
    }),
    promptTokens,
    completionTokens,
    firstTokenMs,
    durationMs,
    adapterHash,
    finish,
    status,
    error,
    synthetic,
    upstream,
    auxiliary,
    ...(purpose && { purpose }),
  };
}
