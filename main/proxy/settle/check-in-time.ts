/** Verdicts with an end of the wait: a call that nobody has judged is not served. */
import { inTime } from '../../guard/in-time.js';
import type { CallVerdict, GuardInput } from '../services.js';
import type { Settler } from './settler.js';

/** Blocks every call after `limitMs`. Errors of the guard pass through. */
export function checkInTime(
  settler: Pick<Settler, 'check'>,
  id: string,
  input: Omit<GuardInput, 'request'>,
  limitMs: number,
): Promise<CallVerdict[]> {
  const late = (): CallVerdict[] =>
    input.toolCalls.map((call) => ({
      toolCallId: call.id,
      verdict: 'block',
      stage: 1,
      rule: 'guard.deadline',
      severity: 'high',
      reason: `the guard gave no verdict within ${limitMs / 1000} seconds; ask again`,
      ms: limitMs,
    }));
  return inTime(settler.check(id, input), limitMs, late);
}
