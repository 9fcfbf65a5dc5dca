/** The answer "this was wrong" to a stored verdict, and taking it back. */
import { TackroomError } from '../../contract/errors.js';
import type { ToolCall, Verdict } from '../../contract/records.js';
import type { Store } from '../store/store.js';
import { AllowanceStore, type StoredAllowance } from './allowance-store.js';
import { type Allowance, callKey, sameCall } from './allowances.js';
import { removeRuleTest, writeRuleTest } from './rule-tests.js';
import { type Conversations, storedVerdict } from './stored-verdict.js';
import { allowanceFor, wasWrong } from './was-wrong.js';

/** Answered twice it is there once. Errors: NOT_FOUND, BAD_ARGUMENT where there is nothing to allow, those of the disk. */
export function answerWrong(store: Store, conversations: Conversations, verdictId: string): StoredAllowance {
  const { record, session, call, input, verdict } = storedVerdict(store, conversations, verdictId);
  const { allowance, test } = wasWrong(input, verdict);
  const allowances = new AllowanceStore(store);
  const known = allowances.find(allowance);
  if (known) return known;
  // First the test: after a kill in between the user answers again and gets both.
  writeRuleTest(store.home, session.id, record.id, test);
  return allowances.add({ ...allowance, tool: call.name, verdictId: record.id, sessionId: session.id });
}

/** Whether one of `allowances` is of this verdict: its rule on its call, with what that followed. */
export function isAllowed(
  store: Store,
  conversations: Conversations,
  { id, rule }: Verdict,
  call: ToolCall,
  allowances: readonly Allowance[],
): boolean {
  const alone = callKey(call);
  const candidates = allowances.filter((each) => each.rule === rule && sameCall(each.call, alone));
  if (candidates.length === 0) return false;
  try {
    const { input, verdict } = storedVerdict(store, conversations, id);
    const { call: key } = allowanceFor(input, verdict);
    return candidates.some((each) => each.call === key);
  } catch {
    // Deleted meanwhile.
    return false;
  }
}

/** Takes the answer back, with its test. Errors: NOT_FOUND. */
export function revokeAllowance(store: Store, id: string): StoredAllowance {
  const removed = new AllowanceStore(store).remove(id);
  if (!removed)
    throw new TackroomError('NOT_FOUND', `There is no allowance ${id}.`, 'List them with `tackroom guard allowances`.');
  removeRuleTest(store.home, removed.sessionId, removed.verdictId);
  return removed;
}
