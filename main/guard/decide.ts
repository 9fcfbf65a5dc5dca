/** From findings to a verdict. */
import type { VerdictKind } from '../../contract/records.js';
import { type CallVerdict, type Finding, type GuardInput, SEVERITIES } from './types.js';

export type Decision = Omit<CallVerdict, 'toolCallId' | 'ms'>;

const BLOCKS_FROM = SEVERITIES.indexOf('high');
const SUSPICIOUS_FROM = SEVERITIES.indexOf('low');

/** The gravest finding decides; ties go to the earlier rule. */
export function decide(findings: readonly Finding[], { profile }: GuardInput): Decision {
  let worst: Decision = { verdict: 'allow', stage: 2, rule: 'none', severity: 'info', reason: 'nothing found' };
  for (const finding of findings) {
    const verdict = finding.verdict?.[profile] ?? bySeverity(finding);
    if (rank(verdict) > rank(worst.verdict))
      worst = {
        verdict,
        stage: finding.rule.startsWith('stage1.') ? 1 : 2,
        rule: finding.rule,
        severity: finding.severity,
        reason: finding.reason,
      };
  }
  return worst;
}

function bySeverity({ severity }: Finding): VerdictKind {
  const level = SEVERITIES.indexOf(severity);
  return level >= BLOCKS_FROM ? 'block' : level >= SUSPICIOUS_FROM ? 'suspicious' : 'allow';
}

function rank(verdict: VerdictKind): number {
  return ['allow', 'suspicious', 'block'].indexOf(verdict);
}
