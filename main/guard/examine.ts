/** Stages 1 and 2 on one call: what the request allows, and what the rules find. A call that cannot be read is refused. */
import { type Allowance, type Excuses, excusesNothing, excusesOf, HOST_RULE } from './allowances.js';
import type { Conversation } from './conversation.js';
import type { Decision } from './decide.js';
import { parseObject } from './json-object.js';
import type { ModelFiles } from './model-files.js';
import type { Rule } from './rules.js';
import { readCall, type Surface } from './surface.js';
import type { Finding, GuardInput, SampledCall } from './types.js';

/** What stages 1 and 2 found in one call, before it is decided. */
export interface Examined {
  surface: Surface | null;
  /** Set when stage 1 already refuses. */
  refused: Decision | null;
  findings: Finding[];
  excused: Excuses;
  /** Of the surface, whatever stage 1 says. */
  followed: ReadonlyMap<string, string>;
  /** Hosts that nobody vouches for at first hand, excused or not. */
  strangers: string[];
}

export function examine(
  call: SampledCall,
  input: GuardInput,
  conversation: Conversation,
  files: ModelFiles,
  rules: readonly Rule[],
  allowances: readonly Allowance[],
): Examined {
  try {
    return look(call, input, conversation, files, rules, allowances);
  } catch {
    return unreadable();
  }
}

export const unreadable = (): Examined => refused(refuse('guard.failed', 'the call could not be read'));

function look(
  call: SampledCall,
  input: GuardInput,
  conversation: Conversation,
  files: ModelFiles,
  rules: readonly Rule[],
  allowances: readonly Allowance[],
): Examined {
  const declared = (input.request.tools ?? []).some((tool) => tool.function.name === call.name);
  if (!declared) return refused(refuse('stage1.tool', 'the tool is not declared in the request'));
  const args = parseObject(call.arguments.trim() === '' ? '{}' : call.arguments);
  if (!args) return refused(refuse('stage1.arguments', 'arguments are not valid JSON'));

  const surface = readCall(call.name, args, files);
  conversation.follow(call, surface, files);
  const { followed } = surface;
  const excused = excusesOf(call, followed, allowances);
  const findings: Finding[] = [];
  const strangers: string[] = [];
  let stranger: Decision | null = null;
  for (const host of new Set(surface.hosts)) {
    const vouching = conversation.vouches(host);
    if (vouching === 'yes') continue;
    strangers.push(host);
    if (excused(HOST_RULE, host)) continue;
    if (vouching === 'no')
      stranger ??= refuse(HOST_RULE, `host ${printable(host)} appears nowhere in the conversation`);
    else
      findings.push({
        rule: HOST_RULE,
        severity: 'medium',
        reason: `host ${printable(host)} was first named by the model itself`,
      });
  }
  if (stranger) return { ...refused(stranger), followed, strangers };
  if (surface.cut)
    findings.push({ rule: 'guard.too_long', severity: 'medium', reason: 'the call is too long to be read to its end' });
  for (const rule of rules) findings.push(...run(rule, surface, input));
  return {
    surface,
    refused: null,
    findings: findings.filter(({ rule }) => !excused(rule)),
    excused,
    followed,
    strangers,
  };
}

function refused(decision: Decision): Examined {
  return {
    surface: null,
    refused: decision,
    findings: [],
    excused: excusesNothing,
    followed: new Map(),
    strangers: [],
  };
}

function run(rule: Rule, surface: Surface, input: GuardInput): Finding[] {
  try {
    const found = rule.find(surface, input);
    return found ? [found] : [];
  } catch {
    return [{ rule: rule.id, severity: 'medium', reason: 'this rule failed on the call' }];
  }
}

function refuse(rule: string, reason: string): Decision {
  return { verdict: 'block', stage: 1, rule, severity: 'high', reason };
}

/** A host in a sentence: short, and nothing that could break the line. */
export function printable(host: string): string {
  return host.replace(/[^\w.:-]/g, '?').slice(0, 100);
}
