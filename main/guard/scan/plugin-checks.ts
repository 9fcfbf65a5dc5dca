/** Plugins over a whole trace: each call is shown to them as the live guard shows it. */
import type { Plugin } from '../plugins.js';
import type { GuardInput } from '../types.js';
import { callPlace, type Detection, detection, type Evidence } from './detection.js';
import type { ExtraCheck } from './evaluate.js';
import { policyChecks } from './policy.js';
import type { Trace } from './trace.js';

/** The plugins' checks with what they found in `trace`; a module that failed on a call is an `error`. */
export async function pluginChecks(plugins: readonly Plugin[], trace: Trace): Promise<ExtraCheck[]> {
  const out: ExtraCheck[] = [];
  for (const plugin of plugins) {
    if (plugin.kind === 'policy') out.push(...policyChecks(plugin.policy));
    else if (plugin.kind === 'module') out.push(...(await moduleChecks(plugin, trace)));
  }
  return out;
}

function inputOf(trace: Trace): GuardInput {
  return {
    harness: 'unknown',
    profile: 'training',
    request: { messages: [] },
    toolCalls: [],
    ...(trace.task !== null && { task: trace.task }),
  };
}

function check(id: string, severity: ExtraCheck['spec']['severity'], title: string, found: Detection): ExtraCheck {
  return { spec: { id, severity, title, kind: 'detector' }, detect: () => found };
}

async function moduleChecks(
  { name, module }: Extract<Plugin, { kind: 'module' }>,
  trace: Trace,
): Promise<ExtraCheck[]> {
  const rules = await module.rules();
  const failed = check('plugin.failed', 'medium', `the plugin ${name} gave no answer`, {
    status: 'error',
    evidence: [],
  });
  if (rules === null) return [failed];
  const places = new Map<string, Evidence[]>(rules.map(({ id }) => [id, []]));
  const input = inputOf(trace);
  let whole = true;
  for (const call of trace.calls) {
    const answer = await module.look(call.name, call.surface, input);
    whole &&= !answer.failed;
    for (const { rule } of answer.hits) places.get(rule.id)?.push(callPlace(call));
  }
  return [
    ...rules.map(({ id, severity, title }) => check(id, severity, title ?? id, detection(places.get(id) ?? []))),
    ...(whole ? [] : [failed]),
  ];
}
