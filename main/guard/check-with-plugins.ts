/** The guard with plugins. Modules and JSON rules run apart; policies look at what all the others found. */
import type { Allowance } from './allowances.js';
import { examineCalls, verdictOf } from './guard.js';
import { inTime } from './in-time.js';
import { type ModuleFindings, moduleFindings, type Plugin, pluginFailed } from './plugins.js';
import { applyPolicies } from './policy-findings.js';
import { builtInRules } from './rules.js';
import type { CallVerdict, Finding, GuardInput } from './types.js';

/** `modulesMs`: how long modules may take over all calls of the answer together; without it each question has its own limit alone. */
export async function checkWithPlugins(
  input: GuardInput,
  plugins: readonly Plugin[],
  allowances: readonly Allowance[] = [],
  modulesMs = Number.POSITIVE_INFINITY,
): Promise<CallVerdict[]> {
  const policies = plugins.flatMap((plugin) => (plugin.kind === 'policy' ? [plugin.policy] : []));
  const builtIn = builtInRules().map(({ id }) => id);
  const until = performance.now() + modulesMs;
  const verdicts: CallVerdict[] = [];
  for (const examined of examineCalls(input, { allowances })) {
    const findings = [...examined.findings];
    const failures: Finding[] = [];
    const known = new Set(builtIn);
    const { surface, call } = examined;
    if (surface)
      for (const plugin of plugins) {
        if (plugin.kind === 'unusable') failures.push(pluginFailed(plugin.name, plugin.reason));
        if (plugin.kind !== 'module') continue;
        const late = (): ModuleFindings => ({
          ids: [],
          findings: [],
          failures: [pluginFailed(plugin.name, 'took too long')],
        });
        const left = until - performance.now();
        const found =
          left > 0 ? await inTime(moduleFindings(plugin.module, call.name, surface, input), left, late) : late();
        for (const id of found.ids) known.add(id);
        findings.push(...found.findings);
        failures.push(...found.failures);
      }
    const ruled = policies.length > 0 ? applyPolicies(findings, policies, known, input) : findings;
    const counted = [...ruled, ...failures].filter(({ rule }) => !examined.excused(rule));
    verdicts.push(verdictOf(examined, counted, input));
  }
  return verdicts;
}
