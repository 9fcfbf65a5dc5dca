/** Finds the requests on record that a session file tells of once more. */
import type { Harness, Request, Session, SourceHarness } from '../../contract/records.js';
import type { ChatMessage } from '../engine/protocol.js';
import type { Statement } from '../store/database.js';
import type { Store } from '../store/store.js';
import type { MessageStore } from './message-store.js';
import { messageText } from './session-finder.js';

/** Of a request in a file: when it was made, with what it was asked last, and what came. */
export interface ToldRequest {
  responseId: string | undefined;
  /** Unix milliseconds. */
  at: number;
  asked: () => ChatMessage | undefined;
  answer: ChatMessage | null;
}

interface Recorded {
  id: string;
  sessionId: string;
  createdAt: number;
}

/** How far the times of one request may lie apart: in a session that is known to be the same, and in any other. */
const SAME_SESSION_MS = 60_000;
const ANY_SESSION_MS = 10 * 60_000;
/** Ids of our own, in the form of each API. */
const OWN_ID = /^(?:chatcmpl-|resp_|msg_)?(req_[0-9a-z]+)$/;

export const recordedHarness = (source: SourceHarness): Harness =>
  source === 'pi' || source === 'opencode' || source === 'hermes' ? source : 'unknown';

/** What an import wrote has the ids of harness and server too. */
const isRecorded = (session: Session | undefined): boolean => session !== undefined && session.origin !== 'import';

/** Of one import: what was recorded before it began. */
export class RecordedRequests {
  readonly #byHarness = new Map<Harness, Recorded[]>();

  constructor(
    private readonly store: Store,
    private readonly messages: MessageStore,
  ) {}

  /** `id`: the harness's own of the session. */
  of(source: SourceHarness, id: string): RecordedTwins {
    const harness = recordedHarness(source);
    const named = this.store.session.list({ where: { harnessSessionId: id, harness } });
    const same = named.filter(isRecorded).map((session) => session.id);
    return new RecordedTwins(this.store, this.messages, this.#recordedOf(harness), same);
  }

  #recordedOf(harness: Harness): Recorded[] {
    const known = this.#byHarness.get(harness);
    if (known) return known;
    const rows = this.store.db
      .prepare(
        `SELECT r.id, r.sessionId, r.createdAt FROM session s JOIN request r ON r.sessionId = s.id
         WHERE s.harness = ? AND s.origin IN ('user', 'demo') ORDER BY r.createdAt, r.id`,
      )
      .all(harness) as Recorded[];
    this.#byHarness.set(harness, rows);
    return rows;
  }
}

/** Of one session file. Each request on record stands for one of the file. */
export class RecordedTwins {
  readonly #used = new Set<string>();
  readonly #byResponseId: Statement;
  readonly #sessions: Set<string>;

  constructor(
    private readonly store: Store,
    private readonly messages: MessageStore,
    private readonly recorded: readonly Recorded[],
    sameSessions: readonly string[],
  ) {
    this.#byResponseId = store.db
      .prepare(
        `SELECT data FROM request WHERE json_extract(data, '$.responseId') = ?
         AND json_extract(data, '$.responseId') IS NOT NULL AND createdAt BETWEEN ? AND ? ORDER BY createdAt LIMIT 64`,
      )
      .pluck();
    this.#sessions = new Set(sameSessions);
  }

  /** Sessions on record that are, in part, the one of the file. */
  get sessionIds(): string[] {
    return [...this.#sessions].filter((id) => this.store.session.get(id));
  }

  /**
   * At about the same time: the same answer with the same response id, or to the same question. In a session known to be the same
   * the answer is enough, and the question where answers cannot be compared.
   */
  find(told: ToldRequest): Request | undefined {
    const found = this.#named(told) ?? this.#alike(told);
    if (!found) return undefined;
    this.#used.add(found.id);
    this.#sessions.add(found.sessionId);
    return found;
  }

  /** An id alone is no proof: some servers give every answer the same. */
  #named(told: ToldRequest): Request | undefined {
    const { responseId, at } = told;
    if (responseId === undefined) return undefined;
    const own = this.store.request.get(OWN_ID.exec(responseId)?.[1] ?? '');
    const rows = this.#byResponseId.all(responseId, at - ANY_SESSION_MS, at + ANY_SESSION_MS) as string[];
    return [...(own ? [own] : []), ...rows.map((row) => JSON.parse(row) as Request)].find(
      (request) =>
        !this.#used.has(request.id) &&
        isRecorded(this.store.session.get(request.sessionId)) &&
        (this.#sameAnswer(request, told) || this.#mayDiffer(request, told)),
    );
  }

  #alike(told: ToldRequest): Request | undefined {
    for (const { id, sessionId } of around(this.recorded, told.at, ANY_SESSION_MS)) {
      const request = this.#used.has(id) ? undefined : this.store.request.get(id);
      // A server that names its answers gave each a name of its own.
      if (!request || (told.responseId !== undefined && request.responseId !== undefined)) continue;
      const isSame = this.#sessions.has(sessionId);
      const near = Math.abs(request.createdAt - told.at) <= SAME_SESSION_MS;
      if (this.#sameAnswer(request, told) && (isSame || this.#sameQuestion(request, told))) return request;
      if (isSame && near && this.#mayDiffer(request, told) && this.#sameQuestion(request, told)) return request;
    }
    return undefined;
  }

  #sameAnswer(request: Request, { answer }: ToldRequest): boolean {
    const answered = request.answer === null ? undefined : this.messages.message(request.answer);
    return answered !== undefined && answer !== null && saidOf(answered) === saidOf(answer);
  }

  /** A notice took the place of a blocked call; of an answer that broke off a file keeps more, less or nothing. */
  #mayDiffer({ id, status }: Request, { answer }: ToldRequest): boolean {
    if (answer === null || status !== 'ok') return answer === null ? status !== 'ok' : status === 'cancelled';
    return this.store.toolCall.count({ where: { requestId: id, verdict: 'block' } }) > 0;
  }

  #sameQuestion(request: Request, told: ToldRequest): boolean {
    const asked = told.asked();
    return asked !== undefined && this.#askedLast(request) === saidOf(asked);
  }

  #askedLast({ promptNode }: Request): string | undefined {
    const hash = this.store.db.prepare('SELECT message FROM message_node WHERE hash = ?').pluck().get(promptNode);
    const message = typeof hash === 'string' ? this.messages.message(hash) : undefined;
    return message && saidOf(message);
  }
}

/** Role, words and calls: what the wire and a file have in common. */
function saidOf(message: ChatMessage): string {
  const calls = (message.tool_calls ?? []).map((call) => `${call.id} ${call.function.name}`);
  return JSON.stringify([message.role, messageText(message).trim(), calls]);
}

/** Those within `ms` of `at`, the nearest first. */
function around(recorded: readonly Recorded[], at: number, ms: number): Recorded[] {
  let low = 0;
  for (let high = recorded.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (recorded[middle]!.createdAt < at - ms) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < recorded.length && recorded[end]!.createdAt <= at + ms) end++;
  return recorded.slice(low, end).sort((a, b) => Math.abs(a.createdAt - at) - Math.abs(b.createdAt - at));
}
