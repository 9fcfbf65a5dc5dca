/** A session as an ATIF v1.7 document (Harbor RFC 0001). Keys without a value are left out, never null. */
import type { AtifDocument, AtifStep } from './atif-schema.js';
import type { SessionInput, TrajectoryCall, TrajectoryMetrics, TrajectoryStep } from './session-input.js';

export interface AtifOptions {
  /** `raw` keeps token ids and log probabilities and marks the document as unsanitized; it must not leave the machine. */
  mode: 'published' | 'raw';
}

/** Never throws: arguments that are no JSON object are kept as `{"_raw": text}` with a note in the call's extra. */
export function toAtif(input: SessionInput, { mode }: AtifOptions): AtifDocument {
  const steps = input.steps.map((step, i) => toStep(step, i + 1, input, mode));
  const measured = input.steps
    .filter((step) => step.metrics && step.copied !== true && step.synthetic !== true)
    .map((step) => step.metrics!);
  const sum = (pick: (metrics: TrajectoryMetrics) => number): number =>
    measured.reduce((total, metrics) => total + pick(metrics), 0);
  return compact({
    schema_version: 'ATIF-v1.7',
    session_id: input.id,
    trajectory_id: input.id,
    agent: compact({
      name: input.harness,
      version: input.harnessVersion ?? 'unknown',
      model_name: input.model,
      tool_definitions:
        input.tools.length > 0 ? input.tools.map((tool) => ({ ...tool }) as Record<string, unknown>) : undefined,
    }),
    steps,
    final_metrics: compact({
      total_prompt_tokens: measured.length > 0 ? sum((m) => m.promptTokens) : undefined,
      total_completion_tokens: measured.length > 0 ? sum((m) => m.completionTokens) : undefined,
      total_steps: steps.length,
    }),
    // That a copy is sanitized is for the sanitizer to say.
    extra: {
      tackroom: compact({ sanitized: mode === 'raw' ? false : undefined, cwd: input.cwd, workspace: input.workspace }),
    },
  });
}

function toStep(step: TrajectoryStep, id: number, input: SessionInput, mode: AtifOptions['mode']): AtifStep {
  const agent = step.kind === 'agent';
  const calls = agent ? (step.toolCalls ?? []) : [];
  const results = step.results ?? [];
  const modelled = agent && step.synthetic !== true;
  const own = compact({
    adapter_hash: agent && step.adapterHash ? step.adapterHash : undefined,
    synthetic: step.synthetic === true ? true : undefined,
    verdicts:
      step.verdicts && step.verdicts.length > 0
        ? step.verdicts.map(({ callId, ...verdict }) => ({ tool_call_id: callId, ...verdict }))
        : undefined,
  });
  const extra = compact({
    context_management: step.contextManagement,
    tackroom: Object.keys(own).length > 0 ? own : undefined,
  });
  return compact({
    step_id: id,
    timestamp: step.at === null || !Number.isFinite(step.at) ? undefined : new Date(step.at).toISOString(),
    source: step.kind,
    model_name: modelled ? input.model : undefined,
    message: step.text,
    reasoning_content: modelled && step.reasoning ? step.reasoning : undefined,
    tool_calls: calls.length > 0 ? calls.map(toCall) : undefined,
    observation: results.length > 0 ? { results: results.map((result) => toResult(result, calls)) } : undefined,
    metrics: modelled && step.metrics ? toMetrics(step.metrics, mode) : undefined,
    is_copied_context: step.copied === true ? true : undefined,
    llm_call_count: agent ? (modelled ? 1 : 0) : undefined,
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  });
}

function toCall(call: TrajectoryCall): NonNullable<AtifStep['tool_calls']>[number] {
  const args = parseObject(call.arguments);
  return {
    tool_call_id: call.id,
    function_name: call.name,
    arguments: args ?? { _raw: call.arguments },
    ...(args === null && { extra: { arguments_not_json: true } }),
  };
}

function toResult(
  result: NonNullable<TrajectoryStep['results']>[number],
  calls: TrajectoryCall[],
): NonNullable<AtifStep['observation']>['results'][number] {
  const known = result.callId !== null && calls.some((call) => call.id === result.callId);
  const extra = compact({
    is_error: result.isError,
    exit_code: result.exitCode,
    unmatched_call_id: result.callId !== null && !known ? result.callId : undefined,
  });
  return compact({
    source_call_id: known ? (result.callId as string) : undefined,
    content: result.text,
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  });
}

function toMetrics(metrics: TrajectoryMetrics, mode: AtifOptions['mode']): NonNullable<AtifStep['metrics']> {
  const raw = mode === 'raw';
  return compact({
    prompt_tokens: metrics.promptTokens,
    completion_tokens: metrics.completionTokens,
    cached_tokens: metrics.cachedTokens,
    cost_usd: metrics.costUsd,
    prompt_token_ids: raw ? metrics.promptIds : undefined,
    completion_token_ids: raw ? metrics.completionIds : undefined,
    logprobs: raw ? metrics.logprobs : undefined,
  });
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** A copy without the keys that are undefined. */
function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}
