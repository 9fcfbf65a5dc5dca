/**
 * JSON policies: rules and allowances made of other checks, in strong Kleene logic: what is unknown stays unknown unless
 * the rest decides. `{"rules":[{"id","severity","when":{"all"|"any"|"not"|"requires":…}}],"allow":[{"id","covers","when"?}]}`
 */
import { z } from 'zod';
import { TackroomError } from '../../../contract/errors.js';
import { SEVERITIES } from '../types.js';
import { type Detection, detection, NOT_APPLICABLE, type Status } from './detection.js';
import type { ExtraCheck } from './evaluate.js';

export type Condition =
  | string
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition }
  | { requires: Condition[] };
const Id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/);
const When: z.ZodType<Condition> = z.lazy(() =>
  z.union([
    Id,
    z.strictObject({ all: z.array(When).min(1).max(100) }),
    z.strictObject({ any: z.array(When).min(1).max(100) }),
    z.strictObject({ not: When }),
    z.strictObject({ requires: z.array(When).min(1).max(100) }),
  ]),
);
const Policy = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        id: Id,
        severity: z.enum(SEVERITIES),
        when: When,
        title: z.string().optional(),
        tasks: z.array(z.string()).optional(),
      }),
    )
    .max(1000)
    .default([]),
  allow: z
    .array(
      z.strictObject({
        id: Id,
        covers: z.union([Id, z.array(Id).min(1)]),
        when: When.optional(),
        tasks: z.array(z.string()).optional(),
      }),
    )
    .max(1000)
    .default([]),
});
export type Policy = z.infer<typeof Policy>;

const MAX_DEPTH = 40;

/** Errors: BAD_ARGUMENT with the place of the first mistake. */
export function parsePolicy(text: string, name: string): Policy {
  try {
    const value: unknown = JSON.parse(text);
    if (depthOf(value) > MAX_DEPTH) throw new Error('it is nested too deeply');
    return Policy.parse(value);
  } catch (cause) {
    const detail =
      cause instanceof z.ZodError
        ? `${cause.issues[0]?.path.join('.')}: ${cause.issues[0]?.message}`
        : (cause as Error).message;
    throw new TackroomError('BAD_ARGUMENT', `The policy in ${name} cannot be read: ${detail}.`, 'See docs/guard.md.', {
      cause,
    });
  }
}

function depthOf(value: unknown, depth = 0): number {
  if (value === null || typeof value !== 'object' || depth > MAX_DEPTH) return depth;
  return Math.max(depth, ...Object.values(value).map((item) => depthOf(item, depth + 1)));
}

/** True, false, or null for unknown. */
export function holds(when: Condition, statusOf: (id: string) => Status | undefined): boolean | null {
  if (typeof when === 'string') {
    const status = statusOf(when);
    return status === 'match' ? true : status === 'no_match' || status === 'not_applicable' ? false : null;
  }
  if ('not' in when) {
    const inner = holds(when.not, statusOf);
    return inner === null ? null : !inner;
  }
  const [items, deciding] = 'any' in when ? [when.any, true] : ['all' in when ? when.all : when.requires, false];
  const values = items.map((item) => holds(item, statusOf));
  if (values.includes(deciding)) return deciding;
  return values.includes(null) ? null : !deciding;
}

function namedIn(when: Condition): string[] {
  if (typeof when === 'string') return [when];
  if ('not' in when) return namedIn(when.not);
  return ('any' in when ? when.any : 'all' in when ? when.all : when.requires).flatMap(namedIn);
}

/** The policy as checks; they are looked at after all others, in the order of the file. */
export function policyChecks({ rules, allow }: Policy): ExtraCheck[] {
  const check = (
    { id, tasks, when }: { id: string; tasks?: string[] | undefined; when?: Condition | undefined },
    spec: Omit<ExtraCheck['spec'], 'id'>,
  ): ExtraCheck => ({
    spec: { id, ...spec },
    detect: (trace, found) => {
      if (tasks && (trace.task === null || !tasks.includes(trace.task))) return NOT_APPLICABLE;
      if (when === undefined) return { status: 'match', evidence: [] };
      return detect(when, found);
    },
  });
  return [
    ...rules.map((rule) => check(rule, { severity: rule.severity, kind: 'rule', title: rule.title ?? rule.id })),
    ...allow.map((rule) =>
      check(rule, { severity: 'info', kind: 'allowance', title: rule.id, covers: [rule.covers].flat() }),
    ),
  ];
}

function detect(when: Condition, found: ReadonlyMap<string, Detection>): Detection {
  if (
    typeof when !== 'string' &&
    'requires' in when &&
    namedIn(when).every((id) => found.get(id)?.status === 'not_applicable')
  )
    return NOT_APPLICABLE;
  const value = holds(when, (id) => found.get(id)?.status);
  if (value === null) return { status: 'unknown', evidence: [] };
  if (!value) return detection([]);
  return {
    status: 'match',
    evidence: namedIn(when)
      .flatMap((id) => found.get(id)?.evidence ?? [])
      .slice(0, 100),
  };
}
