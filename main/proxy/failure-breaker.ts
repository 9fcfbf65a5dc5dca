/**
 * Stops a session whose model server fails again and again: opencode sends a prompt that is refused for its length hundreds of times a
 * minute. After `FAILURE_LIMIT` failures in a row within a minute every request is answered at once, until the cool-down is over; then
 * one is let through, and its result decides. Far above what any harness repeats by itself (hermes: 9 times in 24 s).
 */
import { HttpError } from './http-error.js';

export const FAILURE_LIMIT = 20;
const WINDOW_MS = 60_000;
const FIRST_COOL_DOWN_MS = 15_000;
const LONGEST_COOL_DOWN_MS = 120_000;
/** Nobody asks any more: forgotten. */
const FORGOTTEN_MS = 10 * 60_000;

/** true: answered; false: failed; null: the harness left, which says nothing of the server. */
export type Result = boolean | null;

interface State {
  /** When the latest failures in a row were, oldest first; Unix milliseconds. */
  failures: number[];
  openUntil: number;
  coolDownMs: number;
  /** A request was let through to see whether the server answers again. */
  probing: boolean;
  lastAt: number;
}

export class FailureBreaker {
  readonly #states = new Map<string, State>();
  #sweptAt = 0;

  /** Throws 403 while the breaker is open. Returns what the result has to be told to. Times in Unix milliseconds. */
  admit(session: string, now = Date.now()): (result: Result, now?: number) => void {
    this.#sweep(now);
    const state = this.#states.get(session);
    const isProbe = state !== undefined && state.openUntil > 0;
    if (isProbe) {
      if (now < state.openUntil || state.probing) throw open(state, now);
      state.probing = true;
      state.lastAt = now;
    }
    return (result, at = Date.now()) => this.#told(session, isProbe, result, at);
  }

  /** Whether some session's requests are answered at once. */
  get isOpen(): boolean {
    return [...this.#states.values()].some(({ openUntil }) => openUntil > 0);
  }

  /** Whether some session has failed lately: else no success changes anything. */
  get isConcerned(): boolean {
    return this.#states.size > 0;
  }

  /** The result of a request that was let through without `admit`. */
  tell(session: string, result: Result, now = Date.now()): void {
    this.#sweep(now);
    this.#told(session, false, result, now);
  }

  #told(session: string, isProbe: boolean, result: Result, now: number): void {
    const known = this.#states.get(session);
    if (isProbe && known) known.probing = false;
    if (result === null) return;
    if (result) {
      this.#states.delete(session);
      return;
    }
    const state = known ?? { failures: [], openUntil: 0, coolDownMs: 0, probing: false, lastAt: now };
    state.failures = [...state.failures.filter((at) => now - at < WINDOW_MS), now].slice(-FAILURE_LIMIT);
    state.lastAt = now;
    if (isProbe || state.failures.length >= FAILURE_LIMIT) {
      // Answers to what was asked before it opened change nothing.
      if (isProbe || now >= state.openUntil) {
        state.coolDownMs = Math.min(state.coolDownMs * 2 || FIRST_COOL_DOWN_MS, LONGEST_COOL_DOWN_MS);
        state.openUntil = now + state.coolDownMs;
      }
    }
    this.#states.set(session, state);
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < WINDOW_MS) return;
    this.#sweptAt = now;
    for (const [session, { lastAt }] of this.#states) if (now - lastAt > FORGOTTEN_MS) this.#states.delete(session);
  }
}

/** In words that make no harness ask again. */
function open({ openUntil, probing }: State, now: number): HttpError {
  const seconds = Math.max(1, Math.ceil((openUntil - now) / 1000));
  const next = probing
    ? 'One request is on its way to see whether it answers again.'
    : `The next request goes through in ${seconds} s.`;
  return new HttpError(
    403,
    'REFUSED',
    `The model server failed ${FAILURE_LIMIT} requests of this session in a row within a minute, so Tackroom stopped asking it. ${next} Look at the server, or shorten the conversation, then ask again.`,
  );
}
