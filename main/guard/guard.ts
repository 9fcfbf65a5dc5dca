/**
 * Says of every tool call of a new answer whether the harness may see it. Three stages in strict order, the first block
 * ends the matter: 1 the request (declared tool, valid arguments, hosts somebody mentioned), 2 rules, 3 a judge (off
 * unless handed in; see `judge.ts`). Pure: the same input gives the same verdicts; nothing is kept between calls.
 */
import type { VerdictKind } from '../../contract/records.js';
import { Conversation } from './conversation.js';
import { parseObject } from './json-object.js';
import type { ModelFiles } from './model-files.js';
import { moduleFindings, type Plugin } from './plugins.js';
import { applyPolicies } from './policy-findings.js';
import { builtInRules, type Rule } from './rules.js';
import type { Policy } from './scan/policy.js';
import { readCall, type Surface } from './surface.js';
import { type CallVerdict, type Finding, type GuardInput, type SampledCall, SEVERITIES } from './types.js';

const BLOCKS_FROM = SEVERITIES.indexOf('high');
const SUSPICIOUS_FROM = SEVERITIES.indexOf('low');

/** One verdict per call, in order. Never throws: a rule that fails counts as a suspicious finding. */
export function checkResponse(
  input: GuardInput,
  rules: readonly Rule[] = builtInRules(),
  policies: readonly Policy[] = [],
): CallVerdict[] {
  return [...examineAll(input, rules)].map(({ call, examined, start }) =>
    verdictOf(call, examined, applyPolicies(examined.findings, policies, rules, input), input, start),
  );
}

/** The same with plugins; those that are modules run apart and can only make a verdict graver. */
export async function checkWithPlugins(input: GuardInput, plugins: readonly Plugin[]): Promise<CallVerdict[]> {
  const rules = [...builtInRules(), ...plugins.flatMap((plugin) => (plugin.kind === 'rules' ? plugin.rules : []))];
  const policies = plugins.flatMap((plugin) => (plugin.kind === 'policy' ? [plugin.policy] : []));
  const verdicts: CallVerdict[] = [];
  for (const { call, examined, start } of examineAll(input, rules)) {
    const findings = applyPolicies(examined.findings, policies, rules, input);
    if (examined.surface)
      for (const plugin of plugins)
        if (plugin.kind === 'module')
          findings.push(...(await moduleFindings(plugin.module, call.name, examined.surface, input)));
    verdicts.push(verdictOf(call, examined, findings, input, start));
  }
  return verdicts;
}

function* examineAll(
  input: GuardInput,
  rules: readonly Rule[],
): Generator<{ call: SampledCall; examined: Examined; start: number }> {
  const conversation = new Conversation(input.request);
  const hint = input.toolCalls.map((call) => call.arguments).join('\n');
  let files: ModelFiles | undefined;
  for (const call of input.toolCalls) {
    const start = performance.now();
    files ??= conversation.filesNamedIn(hint);
    yield { call, examined: examine(call, input, conversation, files, rules), start };
  }
}

function verdictOf(
  call: SampledCall,
  examined: Examined,
  findings: readonly Finding[],
  input: GuardInput,
  start: number,
): CallVerdict {
  const decision = examined.refused ?? decide(findings, input);
  return { toolCallId: call.id, ...decision, ms: performance.now() - start };
}

/** The text that stands in the answer for a blocked call. */
export function blockedNotice(name: string, reason: string): string {
  return `[tackroom] blocked call to \`${name}\`: ${reason}`;
}

type Decision = Omit<CallVerdict, 'toolCallId' | 'ms'>;

/** What stages 1 and 2 found in one call, before it is decided. */
interface Examined {
  surface: Surface | null;
  /** Set when stage 1 already refuses. */
  refused: Decision | null;
  findings: Finding[];
}

function examine(
  call: SampledCall,
  input: GuardInput,
  conversation: Conversation,
  files: ModelFiles,
  rules: readonly Rule[],
): Examined {
  const declared = (input.request.tools ?? []).some((tool) => tool.function.name === call.name);
  if (!declared) return refused(refuse('stage1.tool', 'the tool is not declared in the request'));
  const args = parseObject(call.arguments.trim() === '' ? '{}' : call.arguments);
  if (!args) return refused(refuse('stage1.arguments', 'arguments are not valid JSON'));

  const surface = readCall(call.name, args, files);
  for (const { path, content } of surface.writes) if (content !== null) files.set(path, content);
  const findings: Finding[] = [];
  for (const host of new Set(surface.hosts)) {
    const vouching = conversation.vouches(host);
    if (vouching === 'no')
      return refused(refuse('stage1.host', `host ${printable(host)} appears nowhere in the conversation`));
    if (vouching === 'second-hand')
      findings.push({
        rule: 'stage1.host',
        severity: 'medium',
        reason: `host ${printable(host)} was first named by the model itself`,
      });
  }
  if (surface.cut)
    findings.push({ rule: 'guard.too_long', severity: 'medium', reason: 'the call is too long to be read to its end' });
  for (const rule of rules) findings.push(...run(rule, surface, input));
  return { surface, refused: null, findings };
}

function refused(decision: Decision): Examined {
  return { surface: null, refused: decision, findings: [] };
}

function run(rule: Rule, surface: Surface, input: GuardInput): Finding[] {
  try {
    const found = rule.find(surface, input);
    return found ? [found] : [];
  } catch {
    return [{ rule: rule.id, severity: 'medium', reason: 'this rule failed on the call' }];
  }
}

/** The gravest finding decides; ties go to the earlier rule. */
function decide(findings: readonly Finding[], { profile }: GuardInput): Decision {
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

function refuse(rule: string, reason: string): Decision {
  return { verdict: 'block', stage: 1, rule, severity: 'high', reason };
}

/** A host in a sentence: short, and nothing that could break the line. */
function printable(host: string): string {
  return host.replace(/[^\w.:-]/g, '?').slice(0, 100);
}
