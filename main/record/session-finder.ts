/**
 * Which session a request belongs to: the rollout worker it came through, else the session id the harness sends, else
 * the longest conversation on record that it continues.
 */
import type { Harness, Origin, Session } from '../../contract/records.js';
import type { ChatMessage } from '../engine/protocol.js';
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

export class SessionFinder {
  #workers = new Map<string, string>();

  constructor(
    private readonly store: Store,
    private readonly messages: MessageStore,
  ) {}

  /** The session that `chain` (the prompt) continues, or undefined for a new one. */
  find(hint: SessionHint, chain: readonly ChainLink[]): Session | undefined {
    if (hint.workerKey !== null) {
      const id = this.#workers.get(workerSlot(hint));
      return id === undefined ? undefined : this.store.session.get(id);
    }
    if (hint.harnessSessionId !== null)
      return this.store.session.list({
        where: { harnessSessionId: hint.harnessSessionId, harness: hint.harness, origin: hint.origin },
        limit: 1,
      })[0];
    return this.#byPrefix(hint, chain);
  }

  /** Binds a committed session to the worker it came through. */
  bind(hint: SessionHint, sessionId: string): void {
    if (hint.workerKey !== null) this.#workers.set(workerSlot(hint), sessionId);
  }

  /** Forgets a finished rollout. */
  release(workerKey: string): void {
    for (const slot of this.#workers.keys()) if (slot.startsWith(`${workerKey}\n`)) this.#workers.delete(slot);
  }

  #byPrefix(hint: SessionHint, chain: readonly ChainLink[]): Session | undefined {
    const rows = this.store.db.prepare(
      'SELECT id, sessionId FROM request WHERE promptNode = ? ORDER BY createdAt DESC, id DESC LIMIT 64',
    );
    for (let depth = chain.length - 1; depth >= 0; depth--) {
      const earlier = rows.all(chain[depth]!.node) as { id: string; sessionId: string }[];
      const sessions = earlier.flatMap(({ id, sessionId }) => {
        const session = this.store.session.get(sessionId);
        const same =
          session &&
          session.harnessSessionId === null &&
          session.harness === hint.harness &&
          session.origin === hint.origin;
        return same ? [{ requestId: id, session }] : [];
      });
      if (sessions.length === 0) continue;
      // The very same prompt: a repeat after a failure goes on with its session, otherwise somebody asks the same again.
      if (depth === chain.length - 1)
        return sessions.find(({ requestId }) => this.store.request.get(requestId)?.status !== 'ok')?.session;
      const reply = JSON.parse(chain[depth + 1]!.body) as ChatMessage;
      return (sessions.find(({ requestId }) => this.#answered(requestId, reply)) ?? sessions[0]!).session;
    }
    return undefined;
  }

  /** Whether `reply`, as the harness replays it, is what the request was answered: same call ids, or same text. */
  #answered(requestId: string, reply: ChatMessage): boolean {
    const hash = this.store.request.get(requestId)?.answer;
    const answer = hash ? this.messages.message(hash) : undefined;
    if (!answer) return false;
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
