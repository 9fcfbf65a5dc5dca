import { type Assessment, evaluate } from '../../../main/guard/scan/evaluate.js';
import { readTrace, type TraceFacts } from '../../../main/guard/scan/trace.js';

type Json = Record<string, unknown>;

/** Short forms of steps: `user:` and so on in the tests below. */
export const user = (message: string, more: Json = {}): Json => ({ source: 'user', message, ...more });
export const agent = (message: string, more: Json = {}): Json => ({ source: 'agent', message, ...more });

/** An agent step with one call and, unless undefined, its result. */
export function call(name: string, args: Json, result?: string, extra: Json = {}): Json {
  return agent('', {
    tool_calls: [{ tool_call_id: 'c', function_name: name, arguments: args }],
    ...(result !== undefined && { observation: { results: [{ source_call_id: 'c', content: result }] } }),
    ...extra,
  });
}
export const sh = (command: string, result: string | undefined = 'ok', extra: Json = {}): Json =>
  call('bash', { command }, result, extra);
export const write = (path: string, content: string): Json => call('write', { path, content }, 'ok');

export function document(steps: Json[], more: Json = {}): Json {
  return {
    schema_version: 'ATIF-v1.7',
    agent: { name: 'test', version: '1' },
    steps: steps.map((step, i) => ({
      step_id: i + 1,
      timestamp: `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`,
      ...step,
      ...(step.timestamp === null && { timestamp: undefined }),
    })),
    ...more,
  };
}

export function assess(doc: unknown, facts: Partial<TraceFacts> = {}): Map<string, Assessment> {
  const trace = readTrace(doc, { task: 'sum-rows', reward: null, partial: false, ...facts });
  return new Map(evaluate(trace).map((assessment) => [assessment.id, assessment]));
}
