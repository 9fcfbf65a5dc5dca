/** The guard with plugins. Those that are modules run apart and can only make a verdict graver. */
import type { Allowance } from './allowances.js';
import { examineCalls, verdictOf } from './guard.js';
import { moduleFindings, type Plugin } from './plugins.js';
import { builtInRules } from './rules.js';
import type { CallVerdict, GuardInput } from './types.js';

export async function checkWithPlugins(
  input: GuardInput,
  plugins: readonly Plugin[],
  allowances: readonly Allowance[] = [],
): Promise<CallVerdict[]> {
  const rules = [...builtInRules(), ...plugins.flatMap((plugin) => (plugin.kind === 'rules' ? plugin.rules : []))];
  const policies = plugins.flatMap((plugin) => (plugin.kind === 'policy' ? [plugin.policy] : []));
  const verdicts: CallVerdict[] = [];
  for (const examined of examineCalls(input, { rules, policies, allowances })) {
    const findings = [...examined.findings];
    if (examined.surface)
      for (const plugin of plugins)
        if (plugin.kind === 'module')
          findings.push(...(await moduleFindings(plugin.module, examined.call.name, examined.surface, input)));
    const counted = findings.filter(({ rule }) => !examined.excused.has(rule));
    verdicts.push(verdictOf(examined, counted, input));
  }
  return verdicts;
}
