/** The report of a scan, for machines (schema_version 4) and for people. Places only, never the trace's own text. */
import { checkCatalogue } from './checks.js';
import { type Assessment, score, unexcused } from './evaluate.js';
import type { Trace } from './trace.js';

export const SCORE_MEANING = 'the gravest finding that nothing excuses; a candidate for review, not a verdict';

export interface ScannedInput {
  id: string;
  /** Null when the file could not be read. */
  trace: Trace | null;
  error: string | null;
  assessments: Assessment[];
}

export function jsonReport(inputs: readonly ScannedInput[], version: string): unknown {
  const known = [...checkCatalogue(), ...inputs.flatMap(({ assessments }) => assessments)];
  return {
    schema_version: 4,
    scanner_version: version,
    checks: Object.fromEntries(known.map(({ id, severity, title }) => [id, { severity, title }])),
    inputs: inputs.map(jsonInput),
    coverage: {
      inputs: inputs.length,
      read: inputs.filter(({ trace }) => trace !== null).length,
      unreadable: inputs.filter(({ trace }) => trace === null).length,
    },
  };
}

function jsonInput({ id, trace, error, assessments }: ScannedInput): unknown {
  if (trace === null) return { input_id: id, input_status: 'error', input_error: error, assessments: [] };
  const { points, severity } = score(assessments);
  return {
    input_id: id,
    input_status: 'ok',
    input_error: null,
    task: trace.task,
    reward: trace.reward,
    partial: trace.partial,
    agent_steps: trace.document.steps.filter((step) => step.source === 'agent' && step.is_copied_context !== true)
      .length,
    tool_calls: trace.calls.length,
    score: points,
    severity,
    score_semantics: SCORE_MEANING,
    incomplete: assessments.some(({ status }) => status === 'unknown' || status === 'error'),
    expected_matches: assessments.filter(({ status, expectedBy }) => status === 'match' && expectedBy.length > 0)
      .length,
    assessments: assessments.map((assessment) => ({
      id: assessment.id,
      kind: assessment.kind,
      version: '1',
      status: assessment.status,
      severity: assessment.severity,
      score: unexcused([assessment]).length > 0 ? score([assessment]).points : 0,
      complete: assessment.complete,
      dependencies: [],
      covers: assessment.covers,
      expected_by: assessment.expectedBy,
      evidence: assessment.evidence.map(({ stepId, step, channel, call, observation, field, span }) => ({
        step,
        step_id: stepId,
        channel,
        call,
        observation,
        field,
        span,
      })),
    })),
    coverage_gaps: assessments.filter(({ status }) => status === 'unknown').map(({ id: check }) => check),
    recording_gaps: assessments
      .filter(({ id: check, status }) => check.startsWith('integrity.') && status === 'match')
      .map(({ id: check }) => check),
    web_activity: {
      calls: trace.calls.filter(({ web }) => web).length,
      external_urls: assessments.find(({ id: check }) => check === 'network.external_url')?.evidence.length ?? 0,
    },
  };
}

/** One line per input and one per finding, gravest first. */
export function textReport(inputs: readonly ScannedInput[]): string {
  const lines: string[] = [];
  for (const { id, trace, error, assessments } of inputs) {
    if (trace === null) {
      lines.push(`${printable(id)}\tunreadable: ${printable(error ?? '')}`);
      continue;
    }
    const { points, severity } = score(assessments);
    lines.push(`${printable(id)}\t${points}\t${severity}`);
    const matched = assessments.filter(({ status, severity: each }) => status === 'match' && each !== 'info');
    for (const { id: check, severity: each, evidence, expectedBy } of matched.sort(
      (a, b) => score([b]).points - score([a]).points,
    ))
      lines.push(
        `  ${each}\t${check}\t${evidence[0] ? `step ${evidence[0].stepId}` : ''}${evidence.length > 1 ? ` and ${evidence.length - 1} more` : ''}${expectedBy.length > 0 ? `\texcused by ${expectedBy.join(', ')}` : ''}`,
      );
    for (const { id: check } of assessments.filter(({ status }) => status === 'error'))
      lines.push(`  failed\t${check}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Control characters of file names must not reach a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?').slice(0, 1000);
}
