/** Rules of stage 2: the interface for rules in code, and the loader that turns a rules file into one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { packageRoot } from '../../native/addon.js';
import { destruction } from './destruction.js';
import { hostsFile } from './hosts-file.js';
import { installLure } from './install-lure.js';
import { guardianKill } from './process-attack.js';
import type { Surface } from './surface.js';
import { type Finding, type GuardInput, SEVERITIES } from './types.js';

/** A detector looks at one call. It must be pure, must not throw, and must work in linear time. */
export interface Rule {
  id: string;
  find(surface: Surface, input: GuardInput): Finding | null;
}

const Channel = z.enum(['command', 'code', 'read', 'write', 'payload', 'url', 'query']);
const Verdict = z.enum(['allow', 'suspicious', 'block']);
export const VerdictChange = z.object({ training: Verdict.optional(), desktop: Verdict.optional() });
const RuleFile = z.object({
  version: z.literal(1),
  rules: z.array(
    z.object({
      id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/),
      severity: z.enum(SEVERITIES),
      reason: z.string(),
      /** Looks only under this profile. */
      only: z.enum(['training', 'desktop']).optional(),
      /** Verdict that replaces what the severity says. */
      verdict: VerdictChange.optional(),
      /** Any of these; `{task}` stands for the task's name. */
      match: z.array(z.object({ on: z.array(Channel).min(1), pattern: z.string().max(2000) })).min(1),
    }),
  ),
});
export type RuleSpec = z.infer<typeof RuleFile>['rules'][number];

/** Longer texts are read in front only; the surface is capped before. */
export const MAX_SUBJECT = 200_000;

/** Rules of a JSON text. Errors: BAD_ARGUMENT with the place of the first mistake. */
export function parseRules(text: string, name: string): Rule[] {
  return parseRuleSpecs(text, name).map(compile);
}

/** The same, as they are written, with expressions that can be compiled. */
export function parseRuleSpecs(text: string, name: string): RuleSpec[] {
  try {
    const { rules } = RuleFile.parse(JSON.parse(text));
    rules.forEach(compile);
    return rules;
  } catch (cause) {
    const detail =
      cause instanceof z.ZodError ? `${cause.issues[0]?.path.join('.')}: ${cause.issues[0]?.message}` : String(cause);
    throw new TackroomError(
      'BAD_ARGUMENT',
      `The guard rules in ${name} cannot be read: ${detail}.`,
      'Compare with resources/guard/rules.json.',
      { cause },
    );
  }
}

let builtIn: Rule[] | undefined;

/** The rules that ship: those of `resources/guard/rules.json`, read once, and those in code. */
export function builtInRules(): Rule[] {
  builtIn ??= [
    ...parseRules(readFileSync(join(packageRoot(), 'resources', 'guard', 'rules.json'), 'utf8'), 'rules.json'),
    installLure,
    guardianKill,
    hostsFile,
    destruction,
  ];
  return builtIn;
}

function compile(spec: RuleSpec): Rule {
  const matchers = spec.match.map(({ on, pattern }) => ({
    on,
    pattern,
    regex: pattern.includes('{task}') ? null : new RegExp(pattern, 'im'),
  }));
  return {
    id: spec.id,
    find(surface, { profile, task }) {
      if (spec.only && spec.only !== profile) return null;
      for (const { on, pattern, regex } of matchers) {
        const test = regex ?? (task ? new RegExp(pattern.replaceAll('{task}', escapeRegExp(task)), 'im') : null);
        if (
          test &&
          on.some((channel) => textsOf(surface, channel).some((text) => test.test(text.slice(0, MAX_SUBJECT))))
        )
          return {
            rule: spec.id,
            severity: spec.severity,
            reason: spec.reason,
            ...(spec.verdict && { verdict: spec.verdict }),
          };
      }
      return null;
    },
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Every channel that a rule file can name. */
export function ruleChannels(surface: Surface): Record<string, string[]> {
  return Object.fromEntries(Channel.options.map((channel) => [channel, textsOf(surface, channel)]));
}

function textsOf(surface: Surface, channel: z.infer<typeof Channel>): string[] {
  switch (channel) {
    case 'command':
      // An argument that nothing classifies may be a command.
      return surface.others.length > 0 ? [...surface.commands, ...surface.others] : surface.commands;
    case 'code':
      return surface.code;
    case 'read':
      return surface.reads;
    case 'write':
      return surface.writes.map((write) => write.path);
    case 'payload':
      return surface.payloads;
    case 'url':
      return surface.urls;
    case 'query':
      return surface.queries;
  }
}
