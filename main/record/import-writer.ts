/**
 * Writes a session as a reader tells it. Ids come from the harness's own, so that reading a source again finds what is
 * there and adds what is new: a kill in the middle of a long session leaves its beginning, which the next reading completes.
 */
import type { MarkKind, Request, Session, ToolCall } from '../../contract/records.js';
import type { ChatMessage, ToolDefinition } from '../engine/protocol.js';
import {
  type ImportedAnswer,
  type ImportedResult,
  type Place,
  type SessionDetails,
  type SessionInfo,
  type SessionWriter,
  Unreadable,
} from '../harness/sessions/session-writer.js';
import type { Store } from '../store/store.js';
import type { Batches } from './batches.js';
import { collectTools } from './delete-session.js';
import { folderAround } from './folders.js';
import { importedCallId, importedRequestId, importedSessionId } from './import-ids.js';
import { ImportPlaces } from './import-places.js';
import { type MessageStore, nodeHash } from './message-store.js';
import { type RecordedRequests, type RecordedTwins, recordedHarness } from './recorded-requests.js';
import { messageText } from './session-finder.js';
import { recordingSettings } from './settings.js';
import { titleFrom } from './title.js';

const MAX_RESPONSE_ID = 200;
/** Messages between two looks at the clock. */
const LOOK_EVERY = 16;

/** What became of a session file. */
export interface Written {
  session: Session;
  added: number;
  /** Requests of the file that are on record, and the sessions they are in. */
  recorded: number;
  recordedIn: string[];
}

export class ImportWriter implements SessionWriter {
  readonly #messages: MessageStore;
  #info: SessionInfo | undefined;
  #id = '';
  #details: SessionDetails = {};
  #firstQuestion = '';
  #updatedAt = 0;
  #seq = 0;
  #added = 0;
  /** Calls whose result has not been read. */
  #open = new Map<string, ToolCall>();
  /** Number of the next request. */
  #next = 0;
  readonly #places: ImportPlaces;
  #tools = new Set<string>();
  #twins: RecordedTwins | undefined;
  /** Requests that are on record. */
  #recorded = 0;
  readonly #excluded: readonly string[];
  #appends = 0;
  #isNew = false;

  /** `messages` of `store` and `recorded` are shared by the sessions of an import. */
  constructor(
    private readonly store: Store,
    messages: MessageStore,
    private readonly path: string,
    private readonly recorded: RecordedRequests,
    private readonly batches: Batches,
  ) {
    this.#messages = messages;
    this.#places = new ImportPlaces(store);
    this.#excluded = recordingSettings(store).excluded;
  }

  /** Of the session that this reading has made; undefined: it was there, or nothing has begun. */
  get madeSession(): string | undefined {
    return this.#isNew ? this.#id : undefined;
  }

  begin(info: SessionInfo): void {
    this.#info = info;
    this.#refuseExcluded(info.cwd);
    this.#id = importedSessionId(info.harness, info.id);
    this.#isNew = this.store.session.get(this.#id) === undefined;
    this.#twins = this.recorded.of(info.harness, info.id);
    this.#updatedAt = info.createdAt;
    const last = this.store.db.prepare("SELECT max(json_extract(data, '$.seq')) FROM request WHERE sessionId = ?");
    this.#seq = ((last.pluck().get(this.#id) as number | null) ?? -1) + 1;
  }

  describe(details: SessionDetails): void {
    this.#refuseExcluded(details.cwd ?? null);
    this.#details = { ...this.#details, ...details };
  }

  message(at: Place, message: ChatMessage, mark?: MarkKind): Place {
    const place = this.#append(at, message);
    if (mark) this.#places.marks.set(place.node, mark);
    else if (message.role === 'user' && this.#firstQuestion === '') this.#firstQuestion = messageText(message);
    return place;
  }

  again(at: Place, said: Place): Place {
    const node = this.#messages.append(at.node, at.length, said.message);
    const place = { node, message: said.message, length: at.length + 1 };
    const mark = this.#places.marks.get(said.node);
    if (mark) this.#places.marks.set(node, mark);
    this.#places.moved(at.node, node, this.#next);
    return place;
  }

  tools(tools: readonly ToolDefinition[]): string {
    const hash = this.#messages.putTools(tools);
    this.#tools.add(hash);
    return hash;
  }

  request(at: Place, told: ImportedAnswer): Place {
    const { key, at: toldAt, provider, answer, toolsHash, synthetic, responseId, ...fields } = told;
    const id = importedRequestId(this.#id, key);
    const known = this.store.request.get(id);
    const twin = known
      ? undefined
      : this.#twins?.find({
          ...told,
          responseId,
          asked: () => this.#messages.message(at.message),
        });
    if (twin) return this.#pass(at, answer, twin);
    // A source without times gives its own, which changes.
    const createdAt = known?.createdAt ?? toldAt;
    const place = answer ? this.#append(at, answer) : at;
    const request: Request = {
      ...fields,
      ...(responseId !== undefined && responseId.length <= MAX_RESPONSE_ID && { responseId }),
      id,
      version: 1,
      createdAt,
      sessionId: this.#begun().id,
      seq: known?.seq ?? this.#seq++,
      api: 'chat',
      stream: true,
      adapterHash: null,
      upstream: provider ?? this.#begun().info.harness,
      promptNode: at.node,
      answer: answer ? place.message : null,
      toolsHash: toolsHash ?? null,
      sampling: {},
      firstTokenMs: null,
      synthetic: synthetic ?? false,
    };
    this.store.request.put(request);
    this.#next = request.seq + 1;
    if (!known) this.#added++;
    else if (known.promptNode !== request.promptNode || known.answer !== request.answer)
      this.#places.mayGo(known.answer === null ? known.promptNode : nodeHash(known.promptNode, known.answer));
    this.#places.answered(at.node, place.node);
    this.#updatedAt = Math.max(this.#updatedAt, createdAt);
    this.#putCalls(request, answer);
    return place;
  }

  result(at: Place, { callId, text, exitCode, isError }: ImportedResult): Place {
    const place = this.#append(at, { role: 'tool', tool_call_id: callId, content: text });
    const call = this.#open.get(callId);
    if (call) this.store.toolCall.put({ ...call, exitCode, isError });
    this.#open.delete(callId);
    return place;
  }

  /**
   * Writes the session itself; undefined when there was none, or nothing was said in it. When every request of it is on record, that
   * session is the one: nothing of the file is kept beside it.
   */
  finish(): Written | undefined {
    // Offered, and never asked with.
    collectTools(this.store, this.#tools);
    if (!this.#info) return undefined;
    const requests = this.store.request.count({ where: { sessionId: this.#id } });
    const recordedIn = this.#recorded > 0 ? (this.#twins?.sessionIds ?? []) : [];
    const told = { added: this.#added, recorded: this.#recorded, recordedIn };
    const twin = requests === 0 ? this.store.session.get(recordedIn[0] ?? '') : undefined;
    if (twin) {
      // What a batch may have written of it.
      this.store.session.delete(this.#id);
      this.#places.drop(this.#id);
      return { ...told, session: this.#attach(twin) };
    }
    if (!this.store.session.get(this.#id) && requests === 0 && !this.#places.hasEnds) return undefined;
    const session = this.#putSession(requests);
    this.#places.finish(this.#id);
    return { ...told, session };
  }

  /** Commits what there is of a long session: of use by itself, and found again by the next reading after a kill. */
  #breathe(): void {
    this.#appends++;
    if (this.#appends % LOOK_EVERY !== 0 || !this.batches.due) return;
    this.#putSession(this.store.request.count({ where: { sessionId: this.#id } }));
    this.#places.keepEnds(this.#id);
    this.batches.next();
  }

  #putSession(requests: number): Session {
    const known = this.store.session.get(this.#id);
    const { harness, id, cwd, harnessVersion, parent, createdAt } = this.#begun().info;
    return this.store.session.put({
      id: this.#id,
      version: 1,
      createdAt: known?.createdAt ?? createdAt,
      harness: recordedHarness(harness),
      harnessSessionId: id,
      origin: 'import',
      rolloutId: null,
      title:
        titleFrom(this.#details.title ?? '') || titleFrom(this.#firstQuestion) || known?.title || 'Untitled session',
      model: this.#details.model || known?.model || '',
      updatedAt: Math.max(this.#updatedAt, known?.updatedAt ?? 0),
      requests,
      toolCalls: this.store.toolCall.count({ where: { sessionId: this.#id } }),
      blocked: 0,
      source: {
        harness,
        path: this.path,
        harnessVersion,
        cwd: this.#details.cwd ?? cwd,
        parent: parent && { sessionId: importedSessionId(harness, parent.id), kind: parent.kind },
        usage: this.#details.usage ?? null,
      },
    });
  }

  /** The request is on record, with more than the file knows; the conversation goes on after it. */
  #pass(at: Place, answer: ChatMessage | null, twin: Request): Place {
    const place = answer ? this.#append(at, answer) : at;
    this.#recorded++;
    this.#places.answered(at.node, place.node);
    this.#places.mayGo(place.node);
    for (const call of this.store.toolCall.list({ where: { requestId: twin.id } })) this.#open.set(call.callId, call);
    return place;
  }

  /** The file knows where the session worked, when the harness's prompt did not say it. */
  #attach(twin: Session): Session {
    const cwd = this.#details.cwd ?? this.#info?.cwd;
    return twin.cwd === undefined && cwd ? this.store.session.put({ ...twin, cwd }) : twin;
  }

  #refuseExcluded(cwd: string | null): void {
    const folder = cwd === null ? undefined : folderAround(cwd, this.#excluded);
    if (folder !== undefined) throw new Unreadable(`works in ${folder}, which is excluded from recording`);
  }

  #begun(): { id: string; info: SessionInfo } {
    if (!this.#info) throw new Unreadable('does not say which session it is');
    return { id: this.#id, info: this.#info };
  }

  #append(at: Place, message: ChatMessage): Place {
    this.#begun();
    const { node, message: hash } = this.#messages.putAfter(at.node, at.length, message);
    const place = { node, message: hash, length: at.length + 1 };
    this.#places.moved(at.node, node, this.#next);
    this.#breathe();
    return place;
  }

  #putCalls(request: Request, answer: ChatMessage | null): void {
    for (const [i, call] of (answer?.tool_calls ?? []).entries()) {
      const id = importedCallId(request.id, i);
      const known = this.store.toolCall.get(id);
      const record: ToolCall = {
        id,
        version: 1,
        createdAt: request.createdAt,
        sessionId: request.sessionId,
        requestId: request.id,
        callId: call.id,
        name: call.function.name,
        arguments: call.function.arguments,
        verdict: known?.verdict ?? 'allow',
        exitCode: known?.exitCode ?? null,
        isError: known?.isError ?? false,
      };
      this.store.toolCall.put(record);
      this.#open.set(call.id, record);
    }
  }
}
