/** Pass or fail of one run of a check: the exit code where it is the check's own, else the runner's summary. */
import type { Check } from './check-command.js';
import type { CallEvent } from './session-events.js';

export interface CheckVerdict {
  result: 'pass' | 'fail' | 'unknown';
  /** Exit code of the check; null when only its output tells. */
  code: number | null;
}

const UNKNOWN: CheckVerdict = { result: 'unknown', code: null };
const EXIT_LINE = /Command exited with code (-?\d+)\s*$/;
const INTERRUPTED = /(?:Command (?:timed out|aborted)|timed out after|Operation aborted|Command cancelled)[^\n]*\s*$/i;

/** Exit code of a shell call: null when it was cut short, timed out or never ended. */
export function callExitCode(call: CallEvent): number | null {
  if (call.output === null) return null;
  if (call.exitCode !== undefined) return call.exitCode;
  const line = EXIT_LINE.exec(call.output);
  if (line) return Number(line[1]);
  return call.isError || INTERRUPTED.test(call.output) ? null : 0;
}

export function checkVerdict(check: Check, call: CallEvent): CheckVerdict {
  const code = callExitCode(call);
  if (code === null || call.output === null) return UNKNOWN;
  if (!check.masked) return { result: code === 0 ? 'pass' : 'fail', code };
  return { result: summaryVerdict(call.output), code: null };
}

const FAILED: RegExp[] = [
  /^=*\s*(?:.*\b)?[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s/m, // pytest
  /^FAILED \((?:failures|errors)=/m, // unittest
  /^# fail [1-9]/m, // node --test, TAP
  /^ℹ fail [1-9]/m,
  /^not ok \d+/m,
  /^Tests?:? +.*\b[1-9]\d* failed/m, // jest, vitest
  /\berror TS\d+/,
  /^test result: FAILED/m, // cargo
  /^error(?:\[E\d+\])?: /m,
  /^(?:FAIL|--- FAIL)\b/m, // go
  /✖ [1-9]\d* problems?/, // eslint
  /^Found [1-9]\d* errors?/m, // mypy, ruff
];
const PASSED: RegExp[] = [
  /^=*\s*\d+ passed\b.* in [\d.]+s/m,
  /^Ran [1-9]\d* tests? in [\s\S]*^OK\b/m,
  /^# pass [1-9]\d*[\s\S]*^# fail 0$/m,
  /^ℹ pass [1-9]\d*[\s\S]*^ℹ fail 0$/m,
  /^Tests?:? +(?!.*failed).*\b\d+ passed/m,
  /^test result: ok/m,
  /^ok\s+\S+\s+[\d.]+s/m,
  /^Success: no issues found/m,
  /^All checks passed!/m,
];

function summaryVerdict(output: string): CheckVerdict['result'] {
  if (FAILED.some((pattern) => pattern.test(output))) return 'fail';
  return PASSED.some((pattern) => pattern.test(output)) ? 'pass' : 'unknown';
}
