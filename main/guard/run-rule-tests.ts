/** Runs the stored rule tests against the rules, plugins and allowances of today. */
import type { Store } from '../store/store.js';
import { AllowanceStore } from './allowance-store.js';
import { checkWithPlugins } from './check-with-plugins.js';
import { InstalledPlugins } from './installed-plugins.js';
import { readRuleTests } from './rule-tests.js';
import { guardSettings } from './settings.js';
import type { CallVerdict } from './types.js';
import { readExchange } from './wire.js';

export interface RuleTestResult {
  id: string;
  tool: string;
  expected: CallVerdict['verdict'];
  /**
   * `mended`: the rules alone say what is expected, no allowance is needed. `allowed`: it takes the allowance. `changed`: it is another
   * verdict, by `rule`.
   */
  status: 'mended' | 'allowed' | 'changed';
  verdict: CallVerdict['verdict'];
  rule: string;
}

export async function runRuleTests(store: Store): Promise<{ results: RuleTestResult[]; unreadable: string[] }> {
  const { tests, unreadable } = readRuleTests(store.home);
  const allowances = new AllowanceStore(store).list();
  const installed = new InstalledPlugins();
  const results: RuleTestResult[] = [];
  try {
    const plugins = await installed.load(guardSettings(store).plugins);
    for (const { id, expect, request, response, ...rest } of tests) {
      const input = { ...rest, ...readExchange(request, response) };
      const alone = await checkWithPlugins(input, plugins);
      const allowed = await checkWithPlugins(input, plugins, allowances);
      for (const { tool_call_id: callId, verdict: expected } of expect) {
        const of = (verdicts: CallVerdict[]): CallVerdict | undefined =>
          verdicts.find(({ toolCallId }) => toolCallId === callId);
        const now = of(allowed);
        results.push({
          id,
          tool: input.toolCalls.find((call) => call.id === callId)?.name ?? '',
          expected,
          status: of(alone)?.verdict === expected ? 'mended' : now?.verdict === expected ? 'allowed' : 'changed',
          verdict: now?.verdict ?? 'block',
          rule: now?.rule ?? 'none',
        });
      }
    }
  } finally {
    installed.stop();
  }
  return { results, unreadable };
}
