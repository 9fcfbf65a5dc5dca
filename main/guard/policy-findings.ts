/** JSON policies over the findings of one call: what was not found counts as "no", what no rule could find as unknown. */
import { holds, type Policy } from './scan/policy.js';
import type { Finding, GuardInput } from './types.js';

/** Findings after the policies' allowances, with those of their rules. Stage 1 is not for policies to excuse. */
export function applyPolicies(
  findings: readonly Finding[],
  policies: readonly Policy[],
  ids: Iterable<string>,
  { task }: GuardInput,
): Finding[] {
  let current = [...findings];
  const known = new Set(ids);
  const applies = (tasks: string[] | undefined): boolean =>
    tasks === undefined || (task !== undefined && tasks.includes(task));
  const status = (id: string) =>
    current.some((finding) => finding.rule === id)
      ? ('match' as const)
      : known.has(id)
        ? ('no_match' as const)
        : undefined;
  for (const policy of policies) {
    for (const { id, severity, when, title, tasks } of policy.rules) {
      if (applies(tasks) && holds(when, status) === true)
        current.push({ rule: id, severity, reason: title ?? 'a rule of the policy holds' });
      known.add(id);
    }
    const excused = new Set(
      policy.allow
        .filter(({ tasks, when }) => applies(tasks) && (when === undefined || holds(when, status) === true))
        .flatMap(({ covers }) => covers),
    );
    current = current.filter(({ rule }) => rule.startsWith('stage1.') || !excused.has(rule));
  }
  return current;
}
