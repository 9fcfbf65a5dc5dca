/** How well a trajectory was recorded. None of these says anything about conduct. */
import type { AtifStep } from '../../trajectory/atif-schema.js';
import { type Detector, detection, type Evidence, NOT_APPLICABLE, stepPlace } from './detection.js';
import type { Trace } from './trace.js';

const REDACTED = /^\[?(?:REDACTED|redacted|MASKED)\]?$/;
const AGENT_ONLY = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'] as const;

/** Steps of which `test` holds. */
function steps(trace: Trace, test: (step: AtifStep, index: number) => boolean): Evidence[] {
  return trace.document.steps.flatMap((step, i) => (test(step, i) ? [stepPlace(trace, i)] : []));
}

function times(trace: Trace): (number | null)[] {
  return trace.document.steps.map((step) => (step.timestamp === undefined ? null : Date.parse(step.timestamp)));
}

function whole(trace: Trace, holds: boolean): Evidence[] {
  return holds ? [stepPlace(trace, 0)] : [];
}

/** Sums over the steps that have metrics, and the last of them. */
function spent(trace: Trace): { prompt: number; completion: number; last: number; count: number } {
  const all = trace.document.steps.flatMap((step) => (step.metrics ? [step.metrics] : []));
  return {
    prompt: all.reduce((sum, metrics) => sum + (metrics.prompt_tokens ?? 0), 0),
    completion: all.reduce((sum, metrics) => sum + (metrics.completion_tokens ?? 0), 0),
    last: all.at(-1)?.prompt_tokens ?? 0,
    count: all.length,
  };
}

export const INTEGRITY_DETECTORS: Record<string, Detector> = {
  'integrity.timestamp_smearing': (trace) => {
    const known = times(trace).filter((time) => time !== null && !Number.isNaN(time));
    const counts = new Map<number | null, number>();
    for (const time of known) counts.set(time, (counts.get(time) ?? 0) + 1);
    return detection(whole(trace, known.length >= 4 && Math.max(0, ...counts.values()) > known.length / 2));
  },
  'integrity.timestamp_regression': (trace) => {
    let latest = Number.NEGATIVE_INFINITY;
    const back = new Set<number>();
    for (const [i, time] of times(trace).entries()) {
      if (time === null || Number.isNaN(time)) continue;
      if (time < latest) back.add(i);
      latest = Math.max(latest, time);
    }
    return detection(steps(trace, (_, i) => back.has(i)));
  },
  'integrity.timestamp_invalid': (trace) => {
    const all = times(trace);
    return detection(steps(trace, (_, i) => Number.isNaN(all[i])));
  },
  'integrity.timestamp_missing': (trace) => detection(steps(trace, (step) => step.timestamp === undefined)),
  'integrity.step_sequence': (trace) => detection(steps(trace, (step, i) => step.step_id !== i + 1)),
  'integrity.orphan_observation': (trace) =>
    detection(
      steps(trace, ({ observation, tool_calls }) =>
        (observation?.results ?? []).some(
          ({ source_call_id: id }) => id !== undefined && !(tool_calls ?? []).some((call) => call.tool_call_id === id),
        ),
      ),
    ),
  'integrity.agent_only_fields': (trace) =>
    detection(steps(trace, (step) => step.source !== 'agent' && AGENT_ONLY.some((key) => step[key] !== undefined))),
  'integrity.call_id_reused': (trace) => {
    const seen = new Set<string>();
    return detection(
      steps(trace, (step) => {
        const ids = (step.tool_calls ?? []).map((call) => call.tool_call_id);
        const again = ids.some((id) => seen.has(id));
        for (const id of ids) seen.add(id);
        return again;
      }),
    );
  },
  'integrity.tool_token_telemetry': (trace) =>
    detection(
      steps(trace, ({ observation }) =>
        (observation?.results ?? []).some(({ extra }) => Object.keys(extra ?? {}).some((key) => /tokens?$/i.test(key))),
      ),
    ),
  'integrity.history_compacted': (trace) => detection(whole(trace, trace.compacted)),
  'integrity.observation_pairing_reconstructed': (trace) =>
    detection(steps(trace, (step) => unpaired(step) > 0 && unpaired(step) === (step.tool_calls ?? []).length)),
  'integrity.observation_pairing_unresolved': (trace) =>
    detection(
      steps(
        trace,
        (step) =>
          unpaired(step) > 0 && (step.tool_calls ?? []).length > 0 && unpaired(step) !== step.tool_calls?.length,
      ),
    ),
  'integrity.tool_results_not_recorded': (trace) =>
    detection(whole(trace, trace.calls.length > 0 && trace.observations.length === 0)),
  'integrity.actions_not_recorded': (trace) =>
    detection(
      steps(
        trace,
        (step) => step.source === 'agent' && (step.observation?.results.length ?? 0) > 0 && !step.tool_calls?.length,
      ),
    ),
  'integrity.subagent_unrecorded': (trace) => {
    const embedded = new Set(
      (trace.document.subagent_trajectories ?? []).map(
        (sub) => (sub as { trajectory_id?: unknown } | null)?.trajectory_id,
      ),
    );
    return detection(
      steps(trace, ({ observation }) =>
        (observation?.results ?? []).some((result) =>
          (result.subagent_trajectory_ref ?? []).some(({ trajectory_id: id }) => id === undefined || !embedded.has(id)),
        ),
      ),
    );
  },
  'integrity.trace_head_missing': (trace) => {
    const [first] = trace.document.steps;
    return detection(whole(trace, first?.source === 'agent' || first?.is_copied_context === true));
  },
  'integrity.cost_missing': (trace) =>
    detection(
      whole(
        trace,
        trace.document.final_metrics?.total_cost_usd === undefined &&
          !trace.document.steps.some((step) => step.metrics?.cost_usd !== undefined),
      ),
    ),
  'integrity.totals_are_last_call': (trace) => {
    const { prompt, last, count } = spent(trace);
    const total = trace.document.final_metrics?.total_prompt_tokens;
    return total === undefined || count < 2 ? NOT_APPLICABLE : detection(whole(trace, total === last && prompt > last));
  },
  'integrity.tokens_exceed_recorded_calls': (trace) => {
    const { prompt, completion, count } = spent(trace);
    const final = trace.document.final_metrics;
    if (!final || count === 0) return NOT_APPLICABLE;
    return detection(
      whole(trace, (final.total_prompt_tokens ?? 0) > prompt || (final.total_completion_tokens ?? 0) > completion),
    );
  },
  'integrity.output_token_ratio': (trace) => {
    const { completion } = spent(trace);
    if (completion === 0) return NOT_APPLICABLE;
    const characters = trace.authored.reduce((sum, { text }) => sum + text.length, 0);
    return detection(whole(trace, completion > 200 && (characters > completion * 40 || characters < completion / 20)));
  },
  'integrity.agent_steps_missing': (trace) =>
    detection(whole(trace, !trace.document.steps.some((step) => step.source === 'agent'))),
  'integrity.redacted_values': (trace) => detection(steps(trace, (step) => hasRedactedValue(step))),
  'integrity.web_input_unresolved': (trace) =>
    detection(
      trace.calls
        .filter(
          (call) =>
            call.web &&
            call.surface.urls.length + call.surface.queries.length === 0 &&
            !call.pieces.some(({ channel }) => channel === 'query' || channel === 'url'),
        )
        .map(({ step }) => stepPlace(trace, step)),
    ),
  'integrity.web_results_not_recorded': (trace) =>
    detection(
      trace.calls.filter((call) => call.web && call.results.length === 0).map(({ step }) => stepPlace(trace, step)),
    ),
  'integrity.incomplete_tool_generation': (trace) =>
    detection(
      steps(trace, (step) =>
        (step.tool_calls ?? []).some(
          (call) =>
            call.extra?.arguments_not_json === true &&
            trace.calls.some((known) => known.id === call.tool_call_id && (known.failed || known.results.length === 0)),
        ),
      ),
    ),
};

/** Results of a step that name no call. */
function unpaired(step: AtifStep): number {
  return (step.observation?.results ?? []).filter(({ source_call_id: id }) => id === undefined).length;
}

function hasRedactedValue(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return REDACTED.test(value);
  if (value === null || typeof value !== 'object' || depth > 12) return false;
  return Object.values(value).some((item) => hasRedactedValue(item, depth + 1));
}
