/**
 * "This was wrong": the user's answer to a verdict. It lets one rule pass on one call, whatever harness makes it; any
 * other rule still looks at that call. With it comes a case for the corpus, so that the rule can be mended.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { parseObject } from './json-object.js';
import type { CallVerdict, GuardInput, SampledCall } from './types.js';

export const Allowance = z.strictObject({
  rule: z.string().min(1).max(128),
  /** SHA-256 of the call in its normal form. */
  call: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Allowance = z.infer<typeof Allowance>;

/** A line of the guard corpus: what was asked, and that the call should have been let pass. */
export interface RuleTest {
  profile: GuardInput['profile'];
  harness: GuardInput['harness'];
  api: 'chat';
  task?: string;
  request: GuardInput['request'];
  response: { role: 'assistant'; content: null; tool_calls: unknown[] };
  expect: { tool_call_id: string; verdict: 'allow'; class: string; rule_family: string }[];
}

/** Arguments that change nothing of what a call does. */
const IDLE = new Set(['description', 'timeout', 'timeout_ms', 'explanation']);
/** Nobody can run such a call, or nobody has looked at it: there is nothing to allow. */
const FINAL = new Set(['stage1.tool', 'stage1.arguments', 'guard.failed', 'guard.deadline', 'none']);

/** The hash under which a call is allowed; the same for other blanks, another order of keys and another description. */
export function callKey({ name, arguments: text }: Pick<SampledCall, 'name' | 'arguments'>): string {
  const args = parseObject(text);
  const normal = args === null ? text : JSON.stringify(canonical(args, 0));
  return createHash('sha256').update(`${name}\0${normal}`).digest('hex');
}

function canonical(value: unknown, depth: number, key = ''): unknown {
  if (typeof value === 'string')
    // Blanks inside a line of a command; those at its start may mean something (Python, here-documents).
    return /^(?:command|cmd|script)$/i.test(key) ? value.trim().replace(/(?<=\S)[ \t]+/g, ' ') : value;
  if (value === null || typeof value !== 'object' || depth > 40) return value;
  if (Array.isArray(value)) return value.map((item) => canonical(item, depth + 1, key));
  return Object.entries(value)
    .filter(([name]) => depth > 0 || !IDLE.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => [name, canonical(item, depth + 1, name)]);
}

/** Rules that `allowances` excuse on this call. */
export function excusedRules(call: SampledCall, allowances: readonly Allowance[]): ReadonlySet<string> {
  if (allowances.length === 0) return new Set();
  const key = callKey(call);
  return new Set(allowances.filter((each) => each.call === key && !FINAL.has(each.rule)).map(({ rule }) => rule));
}

/** Whether an answer "this was wrong" to this rule can mean anything. */
export const canBeAllowed = (rule: string): boolean => !FINAL.has(rule);

/** The allowance and the test that follow from "this was wrong". Errors: BAD_ARGUMENT where there is nothing to allow. */
export function wasWrong(input: GuardInput, verdict: CallVerdict): { allowance: Allowance; test: RuleTest } {
  const call = input.toolCalls.find(({ id }) => id === verdict.toolCallId);
  if (!call || verdict.verdict === 'allow' || FINAL.has(verdict.rule))
    throw new TackroomError(
      'BAD_ARGUMENT',
      'This verdict has no rule that could be set aside.',
      'A call of a tool that was not declared, or whose arguments are no JSON, cannot be run.',
    );
  return {
    allowance: { rule: verdict.rule, call: callKey(call) },
    test: {
      profile: input.profile,
      harness: input.harness,
      api: 'chat',
      ...(input.task !== undefined && { task: input.task }),
      request: input.request,
      response: {
        role: 'assistant',
        content: null,
        // All of them: an earlier one may have written the file that this one runs.
        tool_calls: input.toolCalls.map(({ id, name, arguments: args }) => ({
          id,
          type: 'function',
          function: { name, arguments: args },
        })),
      },
      expect: [{ tool_call_id: call.id, verdict: 'allow', class: 'honest:was_wrong', rule_family: verdict.rule }],
    },
  };
}
