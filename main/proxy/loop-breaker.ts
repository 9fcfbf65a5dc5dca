/**
 * Stops a harness that asks without end. Two kinds: the very same turn again (opencode does so on several broken answers), more than
 * `REPEAT_LIMIT` times a minute; and an agent that makes the same call with the same result over and over, which is told after
 * `SAME_CALL_NOTED` of them and stopped only when `SAME_CALL_LIMIT` in a row came quickly and none of them waits for something.
 */
import { sha256 } from '../record/hash.js';
import { messageText } from '../record/session-finder.js';
import type { ChatRequest } from './chat-request.js';
import { HttpError } from './http-error.js';
import type { CallVerdict, SampledCall } from './services.js';

const WINDOW_MS = 60_000;
/** Well above the repeats of any harness after failures (6) and of a person. */
export const REPEAT_LIMIT = 60;

/** From here on such a call is marked suspicious. */
export const SAME_CALL_NOTED = 25;
export const SAME_CALL_LIMIT = 100;
/** Slower ones may be somebody watching a build. */
const SAME_CALL_WITHIN_MS = 10 * 60_000;
const WAITS = /\b(?:sleep|wait|watch|poll|inotifywait)\b|\btimeout \d|\btail -f\b/i;

type Asked = Pick<ChatRequest, 'messages' | 'tools'>;

interface SameCall {
  /** Name and arguments of the call. */
  call: string;
  /** How often in a row, with one and the same result; `SAME_CALL_LIMIT` at most. */
  count: number;
}

const textOf = ({ name, arguments: text }: { name: string; arguments: string }): string => `${name} ${text}`;

/** The run of identical calls with identical results that the conversation ends with. null: it ends otherwise. */
export function sameCalls({ messages }: Pick<ChatRequest, 'messages'>): SameCall | null {
  let found: { call: string; result: string } | null = null;
  let count = 0;
  for (let at = messages.length - 1; at >= 1 && count < SAME_CALL_LIMIT; at -= 2) {
    const [asked, result] = [messages[at - 1]!, messages[at]!];
    const [call, ...others] = asked.tool_calls ?? [];
    if (result.role !== 'tool' || call === undefined || others.length > 0) break;
    const one = { call: textOf(call.function), result: messageText(result) };
    found ??= one;
    if (found.call !== one.call || found.result !== one.result) break;
    count++;
  }
  return found && { call: found.call, count };
}

/** Marks a call that goes on with such a run. */
export function noteRepeats(
  verdicts: readonly CallVerdict[],
  calls: readonly SampledCall[],
  asked: Pick<ChatRequest, 'messages'>,
): CallVerdict[] {
  const same = sameCalls(asked);
  if (same === null || same.count < SAME_CALL_NOTED) return [...verdicts];
  const again = new Set(calls.flatMap(({ id, ...call }) => (textOf(call) === same.call ? [id] : [])));
  return verdicts.map((one) =>
    one.verdict === 'allow' && again.has(one.toolCallId)
      ? {
          ...one,
          verdict: 'suspicious',
          rule: 'loop.same_call',
          severity: 'low',
          reason: `the same call brought the same result ${same.count} times in a row`,
        }
      : one,
  );
}

export class LoopBreaker {
  #turns = new Map<string, { since: number; count: number }>();
  /** When a run of the same call was first seen as long as is worth a note. */
  #runs = new Map<string, number>();

  /** Throws 403 when `caller` asks the same turn too often. `now` in Unix milliseconds. */
  checkTurn(caller: string, { messages, tools }: Asked, now = Date.now()): void {
    if (tools.length === 0) return;
    const given = messages.filter((message) => message.role !== 'assistant');
    const key = sha256(`${caller}\n${given.length}\n${JSON.stringify(given.at(-1))}`);
    for (const [old, { since }] of this.#turns) if (now - since > WINDOW_MS) this.#turns.delete(old);
    const entry = this.#turns.get(key) ?? { since: now, count: 0 };
    this.#turns.set(key, entry);
    if (++entry.count > REPEAT_LIMIT)
      throw new HttpError(
        403,
        'REFUSED',
        `The same turn was asked ${REPEAT_LIMIT} times within a minute with nothing new; the loop was stopped.`,
      );
  }

  /** Throws 403 when the agent behind `caller` makes the same call for ever. `now` in Unix milliseconds. */
  checkCalls(caller: string, asked: Asked, now = Date.now()): void {
    if (asked.tools.length === 0) return;
    for (const [old, since] of this.#runs) if (now - since > SAME_CALL_WITHIN_MS) this.#runs.delete(old);
    const same = sameCalls(asked);
    if (same === null || same.count < SAME_CALL_NOTED || WAITS.test(same.call)) return;
    const key = sha256(`${caller}\n${same.call}`);
    if (same.count === SAME_CALL_NOTED) this.#runs.set(key, now);
    // A run whose beginning is not known, or lies too far back, may have been slow.
    if (same.count < SAME_CALL_LIMIT || !this.#runs.has(key)) return;
    throw new HttpError(
      403,
      'REFUSED',
      `The agent made the same call ${same.count} times in a row with the same result within ${SAME_CALL_WITHIN_MS / 60_000} minutes; the loop was stopped. Tell it what to do instead.`,
    );
  }
}
