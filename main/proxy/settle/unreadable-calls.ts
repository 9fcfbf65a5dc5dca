/**
 * Calls whose arguments are no JSON, most often because the answer was cut by its length. They cannot be judged, and some harnesses run
 * what they can make of half of them; so the harness gets the call with arguments that nobody can run. All of them know what to do then:
 * pi and opencode tell the model, hermes asks again with a higher limit.
 */
import type { CallVerdict, SampledCall } from '../services.js';

/** Read leniently it is an object without members, which fails where a tool requires any. */
const UNREADABLE = '{';

/** Blocked calls with arguments that cannot be read get unreadable ones in their place, instead of a notice that ends the turn. */
export function handBackUnreadable(verdicts: readonly CallVerdict[], calls: readonly SampledCall[]): CallVerdict[] {
  return verdicts.map((one) => {
    const call = calls.find(({ id }) => id === one.toolCallId);
    const unread = one.verdict === 'block' && one.rule === 'stage1.arguments' && one.instead === undefined;
    return call && unread ? { ...one, instead: { ...call, arguments: UNREADABLE } } : one;
  });
}
