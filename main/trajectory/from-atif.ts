/** Reads ATIF 1.0-1.8 into the neutral session form. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { ToolDefinition } from '../engine/protocol.js';
import { type AtifContent, AtifDocument, type AtifStep, withoutNulls } from './atif-schema.js';
import type { SessionInput, TrajectoryMetrics, TrajectoryStep } from './session-input.js';
import { validateAtif } from './validate-atif.js';

/**
 * The main line of `doc`; embedded subagents are not part of it. Images and audio become `[image PATH]`.
 * Errors: BAD_ARGUMENT with code and place of the first problem that readers refuse.
 */
export function fromAtif(doc: unknown): SessionInput {
  const refused = validateAtif(doc).find((problem) => problem.level === 'error');
  if (refused)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `This is no valid ATIF document: ${refused.code} at ${refused.at}, ${refused.message}.`,
      'Check the file with its producer.',
    );
  const document = AtifDocument.parse(withoutNulls(doc));
  const first = document.steps.find((step) => step.timestamp !== undefined)?.timestamp;
  return {
    id: document.trajectory_id ?? document.session_id ?? '',
    harness: document.agent.name,
    ...(document.agent.version !== 'unknown' && { harnessVersion: document.agent.version }),
    model: document.agent.model_name ?? document.steps.find((step) => step.model_name)?.model_name ?? '',
    createdAt: first === undefined ? 0 : Date.parse(first),
    tools: (document.agent.tool_definitions ?? []).filter(isTool),
    steps: document.steps.map(readStep),
  };
}

function isTool(tool: Record<string, unknown>): tool is ToolDefinition & Record<string, unknown> {
  return tool.type === 'function' && typeof (tool.function as { name?: unknown } | undefined)?.name === 'string';
}

/** What our own writer adds. Others may write anything there: what does not fit is left out. */
const Own = z
  .object({
    adapter_hash: z.string().optional().catch(undefined),
    synthetic: z.boolean().optional().catch(undefined),
    verdicts: z
      .array(
        z.object({
          tool_call_id: z.string(),
          verdict: z.enum(['allow', 'suspicious', 'block']),
          rule: z.string(),
          reason: z.string(),
        }),
      )
      .optional()
      .catch(undefined),
  })
  .catch({});
const Management = z
  .object({
    type: z.enum(['compaction', 'pruning', 'injection']),
    boundary: z.enum(['replace', 'append', 'truncate']),
  })
  .optional()
  .catch(undefined);

function readStep(step: AtifStep): TrajectoryStep {
  const own = Own.parse(step.extra?.tackroom);
  const management = Management.parse(step.extra?.context_management);
  return {
    kind: step.source,
    text: textOf(step.message),
    at: step.timestamp === undefined ? null : Date.parse(step.timestamp),
    ...(step.reasoning_content !== undefined && { reasoning: step.reasoning_content }),
    ...(step.tool_calls && { toolCalls: step.tool_calls.map(readCall) }),
    ...(step.observation && { results: step.observation.results.map(readResult) }),
    ...(step.metrics && { metrics: readMetrics(step.metrics) }),
    ...(own.adapter_hash !== undefined && { adapterHash: own.adapter_hash }),
    ...((own.synthetic === true || (step.source === 'agent' && step.llm_call_count === 0)) && { synthetic: true }),
    ...(step.is_copied_context === true && { copied: true }),
    ...(own.verdicts && {
      verdicts: own.verdicts.map(({ tool_call_id, ...verdict }) => ({ callId: tool_call_id, ...verdict })),
    }),
    ...(management && { contextManagement: management }),
  };
}

function readCall(call: NonNullable<AtifStep['tool_calls']>[number]): NonNullable<TrajectoryStep['toolCalls']>[number] {
  const raw =
    call.extra?.arguments_not_json === true && typeof call.arguments._raw === 'string' ? call.arguments._raw : null;
  return { id: call.tool_call_id, name: call.function_name, arguments: raw ?? JSON.stringify(call.arguments) };
}

function readResult(
  result: NonNullable<AtifStep['observation']>['results'][number],
): NonNullable<TrajectoryStep['results']>[number] {
  const { is_error: isError, exit_code: exitCode, unmatched_call_id: unmatched } = result.extra ?? {};
  return {
    callId: result.source_call_id ?? (typeof unmatched === 'string' ? unmatched : null),
    text: textOf(result.content ?? ''),
    ...(typeof isError === 'boolean' && { isError }),
    ...(typeof exitCode === 'number' && { exitCode }),
  };
}

function readMetrics(metrics: NonNullable<AtifStep['metrics']>): TrajectoryMetrics {
  return {
    promptTokens: metrics.prompt_tokens ?? 0,
    completionTokens: metrics.completion_tokens ?? 0,
    ...(metrics.cached_tokens !== undefined && { cachedTokens: metrics.cached_tokens }),
    ...(metrics.cost_usd !== undefined && { costUsd: metrics.cost_usd }),
    ...(metrics.prompt_token_ids && { promptIds: metrics.prompt_token_ids }),
    ...(metrics.completion_token_ids && { completionIds: metrics.completion_token_ids }),
    ...(metrics.logprobs && { logprobs: metrics.logprobs }),
  };
}

function textOf(content: AtifContent): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type} ${part.source.path}]`)).join('\n');
}
