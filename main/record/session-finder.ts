/**
 * Which session a request belongs to: the rollout worker it came through, else the session id the harness sends, else
 * the longest conversation on record that it continues.
 */
import type { Harness, Origin, Request, Session } from '../../contract/records.js';
import type { ChatMessage } from '../engine/protocol.js';
import { prepared } from '../store/database.js';
import type { Store } from '../store/store.js';
import type { ChainLink, MessageStore } from './message-store.js';

export interface SessionHint {
  harness: Harness;
  origin: Origin;
  rolloutId: string | null;
  /** Empty: taken from the first user message. */
  title: string;
  /** Identifies one rollout of one worker; requests with the same key share a session (one per harness session id). */
  workerKey: string | null;
  /** The harness's own session id, when it sent one. */
  harnessSessionId: string | null;
}

/** Harnesses give up repeating a failed request well within this. */
const REPEAT_WINDOW_MS = 10 * 60_000;

export class SessionFinder {
  #workers = new Map<string, string>();

  constructor(
    private readonly store: Store,
    private readonly messages: MessageStore,
  ) {}

  /** The session that `chain` (the prompt) continues, or undefined for a new one. `now`: Unix milliseconds. */
  find(hint: SessionHint, chain: readonly ChainLink[], now: number): Session | undefined {
    if (hint.workerKey !== null) {
      const id = this.#workers.get(workerSlot(hint));
      return id === undefined ? undefined : this.store.session.get(id);
    }
    if (hint.harnessSessionId !== null)
      return this.store.session.list({
        where: { harnessSessionId: hint.harnessSessionId, harness: hint.harness, origin: hint.origin },
        limit: 1,
      })[0];
    return this.#byPrefix(hint, chain, now);
  }

  /** Binds a committed session to the worker it came through. */
  bind(hint: SessionHint, sessionId: string): void {
    if (hint.workerKey !== null) this.#workers.set(workerSlot(hint), sessionId);
  }

  /** Forgets a finished rollout. */
  release(workerKey: string): void {
    for (const slot of this.#workers.keys()) if (slot.startsWith(`${workerKey}\n`)) this.#workers.delete(slot);
  }

  #byPrefix(hint: SessionHint, chain: readonly ChainLink[], now: number): Session | undefined {
    // `+` takes away the number affinity of the column, with which SQLite would not use the index of session.id.
    const askedWith = prepared(
      this.store.db,
      `SELECT r.id FROM request r JOIN session s ON s.id = +r.sessionId
       WHERE r.promptNode = ? AND s.harness = ? AND s.origin = ? AND s.harnessSessionId IS NULL
       ORDER BY r.createdAt DESC, r.id DESC LIMIT 64`,
    );
    for (let depth = chain.length - 1; depth >= 0; depth--) {
      const rows = askedWith.all(chain[depth]!.node, hint.harness, hint.origin) as { id: string }[];
      if (rows.length === 0) continue;
      const earlier = rows.map(({ id }) => this.store.request.get(id)!);
      // The very same prompt: a repeat after a failure goes on with its session, otherwise somebody asks the same again.
      const found =
        depth === chain.length - 1
          ? earlier.find((request) => request.status !== 'ok' && now - request.createdAt < REPEAT_WINDOW_MS)
          : (earlier.find((request) => this.#answered(request, chain[depth + 1]!)) ?? earlier[0]);
      return found && this.store.session.get(found.sessionId);
    }
    return undefined;
  }

  /** Whether `link`, as the harness replays it, is what the request was answered: same call ids, or same text. */
  #answered(request: Request, link: ChainLink): boolean {
    const answer = request.answer === null ? undefined : this.messages.message(request.answer);
    if (!answer) return false;
    const reply = JSON.parse(link.body) as ChatMessage;
    const ids = (message: ChatMessage): string => (message.tool_calls ?? []).map((call) => call.id).join('\n');
    if (ids(answer) !== '' || ids(reply) !== '') return ids(answer) === ids(reply);
    return messageText(answer) === messageText(reply);
  }
}

/** Text of a message; parts that are not text are left out. */
export function messageText(message: ChatMessage): string {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? []).map((part) => part.text ?? '').join('');
}

const workerSlot = (hint: SessionHint): string => `${hint.workerKey}\n${hint.harnessSessionId ?? ''}`;
