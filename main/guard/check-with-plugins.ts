/** The guard with plugins. Those that are modules run apart and can only make a verdict graver. */
import type { Allowance } from './allowances.js';
import { examineCalls, verdictOf } from './guard.js';
import { inTime } from './in-time.js';
import { moduleFindings, type Plugin, pluginFailed } from './plugins.js';
import { builtInRules } from './rules.js';
import type { CallVerdict, Finding, GuardInput } from './types.js';

/** `modulesMs`: how long modules may take over all calls of the answer together; without it each question has its own limit alone. */
export async function checkWithPlugins(
  input: GuardInput,
  plugins: readonly Plugin[],
  allowances: readonly Allowance[] = [],
  modulesMs = Number.POSITIVE_INFINITY,
): Promise<CallVerdict[]> {
  const rules = [...builtInRules(), ...plugins.flatMap((plugin) => (plugin.kind === 'rules' ? plugin.rules : []))];
  const policies = plugins.flatMap((plugin) => (plugin.kind === 'policy' ? [plugin.policy] : []));
  const until = performance.now() + modulesMs;
  const verdicts: CallVerdict[] = [];
  for (const examined of examineCalls(input, { rules, policies, allowances })) {
    const findings = [...examined.findings];
    const { surface, call } = examined;
    if (surface)
      for (const plugin of plugins) {
        if (plugin.kind === 'unusable') findings.push(pluginFailed(plugin.name, plugin.reason));
        if (plugin.kind !== 'module') continue;
        const late = (): Finding[] => [pluginFailed(plugin.name, 'took too long')];
        const left = until - performance.now();
        findings.push(
          ...(left > 0 ? await inTime(moduleFindings(plugin.module, call.name, surface, input), left, late) : late()),
        );
      }
    const counted = findings.filter(({ rule }) => !examined.excused(rule));
    verdicts.push(verdictOf(examined, counted, input));
  }
  return verdicts;
}
