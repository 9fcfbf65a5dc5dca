/** A recorded transcript in the neutral session form: tool results go to the agent step whose call they answer. */
import type { ToolDefinition } from '../engine/protocol.js';
import type { AssistantStep, Transcript, TranscriptStep } from '../record/transcript.js';
import type { SessionInput, TrajectoryMetrics, TrajectoryStep } from './session-input.js';

export type TokensOf = (
  requestId: string,
) => Pick<TrajectoryMetrics, 'promptIds' | 'completionIds' | 'logprobs'> | undefined;

/** Requests beside the conversation (titles, summaries) are left out. `tokensOf` is asked only when it is given. */
export function sessionInputOf(
  { session, steps }: Transcript,
  tools: ToolDefinition[],
  tokensOf?: TokensOf,
): SessionInput {
  const out: TrajectoryStep[] = [];
  for (const step of steps) {
    if (step.kind === 'assistant') {
      if (!step.auxiliary) out.push(agentStep(step, tokensOf));
    } else if (step.kind === 'tool') addResult(out, step);
    else if (step.kind === 'rewrite')
      out.push({
        kind: 'system',
        text: 'The harness replaced its history.',
        at: step.at,
        contextManagement: { type: 'compaction', boundary: 'truncate' },
      });
    else out.push({ kind: step.kind, text: step.text, at: step.at });
  }
  return {
    id: session.id,
    harness: session.harness,
    model: session.model,
    createdAt: session.createdAt,
    tools,
    steps: out,
  };
}

function agentStep(step: AssistantStep, tokensOf: TokensOf | undefined): TrajectoryStep {
  const found = step.toolCalls.filter((call) => call.verdict !== 'allow');
  return {
    kind: 'agent',
    text: step.text,
    at: step.at,
    toolCalls: step.toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    ...(step.requestId !== null && {
      metrics: {
        promptTokens: step.promptTokens,
        completionTokens: step.completionTokens,
        ...tokensOf?.(step.requestId),
      },
    }),
    adapterHash: step.adapterHash,
    ...(step.synthetic && { synthetic: true }),
    ...(step.requestId === null && { copied: true }),
    verdicts: found.map((call) => ({
      callId: call.id,
      verdict: call.verdict,
      rule: call.rule ?? '',
      reason: call.reason ?? '',
    })),
  };
}

function addResult(steps: TrajectoryStep[], step: Extract<TranscriptStep, { kind: 'tool' }>): void {
  const { toolCallId: callId, text, at, exitCode, isError } = step;
  const result = {
    callId,
    text,
    ...(isError !== undefined && { isError }),
    ...(typeof exitCode === 'number' && { exitCode }),
  };
  const owner = steps.findLast((one) => one.toolCalls?.some((call) => call.id === callId));
  if (owner) owner.results = [...(owner.results ?? []), result];
  else steps.push({ kind: 'system', text: '', at, results: [result] });
}
