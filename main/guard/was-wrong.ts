/** "This was wrong", the user's answer to a verdict: an allowance, and a case for the corpus, so that the rule can be mended. */
import { TackroomError } from '../../contract/errors.js';
import { type Allowance, callKey, canBeAllowed, HOST_RULE } from './allowances.js';
import { printable } from './examine.js';
import { type ExaminedCall, examineCalls } from './guard.js';
import type { CallVerdict, GuardInput } from './types.js';

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

/** Errors: BAD_ARGUMENT where there is nothing to allow. */
export function allowanceFor(input: GuardInput, verdict: CallVerdict): Allowance {
  const { rule } = verdict;
  const read = verdict.verdict === 'allow' || !canBeAllowed(rule) ? undefined : examinedCall(input, verdict.toolCallId);
  // The reason names the host; a judge's own words may not.
  const host =
    rule === HOST_RULE && read
      ? (read.strangers.find((one) => verdict.reason.startsWith(`host ${printable(one)} `)) ?? read.strangers[0])
      : '';
  if (!read || host === undefined)
    throw new TackroomError(
      'BAD_ARGUMENT',
      'This verdict has no rule that could be set aside.',
      'A call of a tool that was not declared, or whose arguments are no JSON, cannot be run.',
    );
  return { rule, call: callKey(read.call, read.followed, host) };
}

/** The allowance and the test that follow from "this was wrong". Errors: those of `allowanceFor`. */
export function wasWrong(input: GuardInput, verdict: CallVerdict): { allowance: Allowance; test: RuleTest } {
  return {
    allowance: allowanceFor(input, verdict),
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
      expect: [
        { tool_call_id: verdict.toolCallId, verdict: 'allow', class: 'honest:was_wrong', rule_family: verdict.rule },
      ],
    },
  };
}

function examinedCall(input: GuardInput, callId: string): ExaminedCall | undefined {
  for (const examined of examineCalls(input, {})) if (examined.call.id === callId) return examined;
  return undefined;
}
