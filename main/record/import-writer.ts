/**
 * Writes a session as a reader tells it. Ids come from the harness's own, so that reading a source again finds what is
 * there and adds what is new. To be run in one transaction: a crash leaves the whole session or none of it.
 */
import type { MarkKind, Request, Session, ToolCall } from '../../contract/records.js';
import type { ChatMessage, ToolDefinition } from '../engine/protocol.js';
import {
  type ImportedAnswer,
  type ImportedResult,
  type Place,
  ROOT,
  type SessionDetails,
  type SessionInfo,
  type SessionWriter,
  Unreadable,
} from '../harness/sessions/session-writer.js';
import type { Store } from '../store/store.js';
import { collectNodes, collectTools } from './delete-session.js';
import { importedCallId, importedRequestId, importedSessionId } from './import-ids.js';
import { type MessageStore, nodeHash } from './message-store.js';
import { messageText } from './session-finder.js';
import { titleFrom } from './title.js';

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
  /** Places that something follows, and those that nothing followed so far, with the number of the next request. */
  #followed = new Set<string>();
  #ends = new Map<string, number>();
  #next = 0;
  #marks = new Map<string, MarkKind>();
  #tools = new Set<string>();
  /** Leaves of an earlier reading that said less, such as an answer that was still being written. */
  #stale: string[] = [];

  /** `messages` of `store`, shared by the sessions of an import. */
  constructor(
    private readonly store: Store,
    messages: MessageStore,
    private readonly path: string,
  ) {
    this.#messages = messages;
  }

  begin(info: SessionInfo): void {
    this.#info = info;
    this.#id = importedSessionId(info.harness, info.id);
    this.#updatedAt = info.createdAt;
    const last = this.store.db.prepare("SELECT max(json_extract(data, '$.seq')) FROM request WHERE sessionId = ?");
    this.#seq = ((last.pluck().get(this.#id) as number | null) ?? -1) + 1;
  }

  describe(details: SessionDetails): void {
    this.#details = { ...this.#details, ...details };
  }

  message(at: Place, message: ChatMessage, mark?: MarkKind): Place {
    const place = this.#append(at, message);
    if (mark) this.#marks.set(place.node, mark);
    else if (message.role === 'user' && this.#firstQuestion === '') this.#firstQuestion = messageText(message);
    return place;
  }

  again(at: Place, said: Place): Place {
    const node = this.#messages.append(at.node, at.length, said.message);
    const place = { node, message: said.message, length: at.length + 1 };
    const mark = this.#marks.get(said.node);
    if (mark) this.#marks.set(node, mark);
    this.#moved(at, place);
    return place;
  }

  tools(tools: readonly ToolDefinition[]): string {
    const hash = this.#messages.putTools(tools);
    this.#tools.add(hash);
    return hash;
  }

  request(at: Place, told: ImportedAnswer): Place {
    const { key, at: toldAt, provider, answer, toolsHash, synthetic, ...fields } = told;
    const id = importedRequestId(this.#id, key);
    const known = this.store.request.get(id);
    // A source without times gives its own, which changes.
    const createdAt = known?.createdAt ?? toldAt;
    const place = answer ? this.#append(at, answer) : at;
    const request: Request = {
      ...fields,
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
      this.#stale.push(known.answer === null ? known.promptNode : nodeHash(known.promptNode, known.answer));
    this.#followed.add(at.node);
    this.#ends.delete(place.node);
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

  /** Writes the session itself; undefined when there was none, or nothing was said in it. */
  finish(): { session: Session; added: number } | undefined {
    // Offered, and never asked with.
    collectTools(this.store, this.#tools);
    if (!this.#info) return undefined;
    const ends = [...this.#ends].filter(([node]) => !this.#followed.has(node));
    const known = this.store.session.get(this.#id);
    const requests = this.store.request.count({ where: { sessionId: this.#id } });
    if (!known && requests === 0 && ends.length === 0) return undefined;
    const { harness, id, cwd, harnessVersion, parent } = this.#info;
    const createdAt = known?.createdAt ?? this.#info.createdAt;
    const session = this.store.session.put({
      id: this.#id,
      version: 1,
      createdAt,
      harness: harness === 'pi' || harness === 'opencode' || harness === 'hermes' ? harness : 'unknown',
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
    this.#putPlaces(ends);
    collectNodes(this.store, this.#stale);
    return { session, added: this.#added };
  }

  #begun(): { id: string; info: SessionInfo } {
    if (!this.#info) throw new Unreadable('does not say which session it is');
    return { id: this.#id, info: this.#info };
  }

  #append(at: Place, message: ChatMessage): Place {
    this.#begun();
    const { node, message: hash } = this.#messages.putAfter(at.node, at.length, message);
    const place = { node, message: hash, length: at.length + 1 };
    this.#moved(at, place);
    return place;
  }

  #moved(from: Place, to: Place): void {
    if (from.node !== ROOT.node) this.#followed.add(from.node);
    this.#ends.delete(from.node);
    this.#ends.set(to.node, this.#next);
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

  #putPlaces(ends: readonly (readonly [string, number])[]): void {
    const { db } = this.store;
    const before = db.prepare("SELECT node FROM session_place WHERE sessionId = ? AND kind = 'tail'").pluck();
    this.#stale.push(...(before.all(this.#id) as string[]));
    db.prepare('DELETE FROM session_place WHERE sessionId = ?').run(this.#id);
    const put = db.prepare('INSERT OR IGNORE INTO session_place (sessionId, node, kind, seq) VALUES (?, ?, ?, ?)');
    for (const [node, seq] of ends) put.run(this.#id, node, 'tail', seq);
    for (const [node, kind] of this.#marks) put.run(this.#id, node, kind, 0);
  }
}
