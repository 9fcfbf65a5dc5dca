/**
 * Stops a harness that asks the same again without end (opencode does so on several broken answers): more than
 * `limit` agent turns a minute without a new word of the user or a tool.
 */
import { sha256 } from '../record/hash.js';
import type { ChatRequest } from './chat-request.js';
import { HttpError } from './http-error.js';

const WINDOW_MS = 60_000;
/** Well above the repeats of any harness after failures (6) and of a person. */
export const REPEAT_LIMIT = 60;

export class LoopBreaker {
  #seen = new Map<string, { since: number; count: number }>();

  /** Throws 403 when `caller` repeats itself. `now` in Unix milliseconds. */
  check(caller: string, chat: ChatRequest, now = Date.now()): void {
    if (chat.tools.length === 0) return;
    const given = chat.messages.filter((message) => message.role !== 'assistant');
    const key = sha256(`${caller}\n${given.length}\n${JSON.stringify(given.at(-1))}`);
    for (const [old, { since }] of this.#seen) if (now - since > WINDOW_MS) this.#seen.delete(old);
    const entry = this.#seen.get(key) ?? { since: now, count: 0 };
    this.#seen.set(key, entry);
    if (++entry.count > REPEAT_LIMIT)
      throw new HttpError(
        403,
        'REFUSED',
        `The same turn was asked ${REPEAT_LIMIT} times within a minute with nothing new; the loop was stopped.`,
      );
  }
}
