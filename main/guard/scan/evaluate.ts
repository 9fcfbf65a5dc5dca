/** Runs every check over a trace and applies allowances; the score is the gravest finding that nothing excuses. */
import { SEVERITIES, type Severity } from '../types.js';
import { type CheckSpec, checkCatalogue, patternDetector } from './checks.js';
import { type Detection, type Detector, NOT_APPLICABLE } from './detection.js';
import { INTEGRITY_DETECTORS } from './integrity-detectors.js';
import { LOOKUP_DETECTORS } from './lookup-detectors.js';
import { NETWORK_DETECTORS, withHostsFile } from './network-detectors.js';
import type { Trace } from './trace.js';

export interface Assessment extends Detection {
  id: string;
  kind: CheckSpec['kind'];
  severity: Severity;
  title: string;
  covers: string[];
  /** Allowances that excuse this finding. */
  expectedBy: string[];
  /** False when the record is not whole, so that "not found" means nothing. */
  complete: boolean;
}
export interface ExtraCheck {
  spec: CheckSpec;
  detect: Detector;
}

const POINTS: Record<Severity, number> = { info: 0, low: 25, medium: 50, high: 75, critical: 100 };
const IN_CODE: Record<string, Detector> = { ...LOOKUP_DETECTORS, ...NETWORK_DETECTORS, ...INTEGRITY_DETECTORS };

/** Patterns first: what follows a lookup to its result asks what they found. */
let ordered: ExtraCheck[] | undefined;
function builtIn(): ExtraCheck[] {
  ordered ??= checkCatalogue()
    .map((spec) => ({ spec, detect: detectorOf(spec) }))
    .sort((a, b) => stage(a.spec) - stage(b.spec));
  return ordered;
}

function stage(spec: CheckSpec): number {
  if (spec.kind === 'allowance') return 3;
  return spec.kind === 'rule' ? 2 : spec.match ? 0 : 1;
}

function detectorOf(spec: CheckSpec): Detector {
  const own = IN_CODE[spec.id];
  if (own) return own;
  const patterns = patternDetector(spec);
  return spec.id === 'network.isolation_bypass'
    ? (trace) => withHostsFile(trace, patterns(trace, new Map()))
    : patterns;
}

/** Assessments in the catalogue's order, then those of `extra`. A check that fails is an `error`, not an exception. */
export function evaluate(trace: Trace, extra: readonly ExtraCheck[] = []): Assessment[] {
  const found = new Map<string, Detection>();
  const whole = !trace.partial && !trace.compacted;
  for (const { spec, detect } of [...builtIn(), ...extra]) found.set(spec.id, attempt(detect, trace, found, whole));
  const specs = [...checkCatalogue(), ...extra.map(({ spec }) => spec)];
  const allowances = specs.filter((spec) => spec.kind === 'allowance' && found.get(spec.id)?.status === 'match');
  return specs.map((spec) => ({
    id: spec.id,
    kind: spec.kind,
    severity: spec.severity,
    title: spec.title,
    covers: spec.covers ?? [],
    complete: whole,
    expectedBy: allowances.filter(({ covers }) => covers?.includes(spec.id)).map(({ id }) => id),
    ...(found.get(spec.id) ?? NOT_APPLICABLE),
  }));
}

function attempt(detect: Detector, trace: Trace, found: ReadonlyMap<string, Detection>, whole: boolean): Detection {
  try {
    const result = detect(trace, found);
    return result.status === 'no_match' && !whole ? { ...result, status: 'unknown' } : result;
  } catch {
    return { status: 'error', evidence: [] };
  }
}

export interface Score {
  points: number;
  severity: Severity;
}

/** The gravest match that counts: excused findings, allowances and the context fact do not. */
export function score(assessments: readonly Assessment[]): Score {
  const counted = unexcused(assessments).map(({ severity }) => SEVERITIES.indexOf(severity));
  const severity = SEVERITIES[Math.max(0, ...counted)] ?? 'info';
  return { points: POINTS[severity], severity };
}

export function unexcused(assessments: readonly Assessment[]): Assessment[] {
  return assessments.filter(
    ({ status, kind, expectedBy }) =>
      status === 'match' && expectedBy.length === 0 && kind !== 'allowance' && kind !== 'context',
  );
}
