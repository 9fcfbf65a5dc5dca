/**
 * Judges an answer and commits its request. Apart from the sockets, so that neither a long conversation nor the disk holds up a stream:
 * in the gateway it runs in a thread of its own (see thread.ts).
 */
import type { Origin, Request } from '../../../contract/records.js';
import type { NewRequest, Recorder } from '../../record/recorder.js';
import { beginsIn } from '../../record/working-directory.js';
import type { ChatRequest } from '../chat-request.js';
import { type Api, DIALECTS } from '../dialects/dialect.js';
import { LoopBreaker, noteRepeats } from '../loop-breaker.js';
import type { CallVerdict, Guard, GuardInput } from '../services.js';
import { BodyReader } from './body-reader.js';
import { handBackUnreadable } from './unreadable-calls.js';
import type { ToUpkeep } from './upkeep.js';

/** What is kept of a request until it ends. */
type Asked = Pick<NewRequest, 'messages' | 'tools' | 'began'>;

/** A finished request without what its beginning tells. */
export type Entry = Omit<NewRequest, keyof Asked>;

/** What whoever passes a request on has to know of it. */
export interface Opened extends Pick<ChatRequest, 'model' | 'stream' | 'includeUsage' | 'sampling' | 'cacheKey'> {
  /** Of the calls in the conversation. */
  callIds: string[];
}

export interface Settler {
  /**
   * Reads the body of request `id`, which is given away with that: nobody else may read it any more. `loopKey`: who asks, for the breaker
   * of loops; null: it has been asked. Rejects with an HttpError for what no harness should send.
   */
  open(id: string, api: Api, body: Buffer, loopKey: string | null, origin: Origin): Promise<Opened>;
  check(id: string, input: Omit<GuardInput, 'request'>): Promise<CallVerdict[]>;
  /** Resolves after the commit, with null when the user's settings leave the request out; ends it. Errors of the disk pass through; nothing of the request is then stored. */
  record(entry: Entry): Promise<Request | null>;
  /** Ends the grouping of a rollout's requests. */
  releaseWorker(workerKey: string): void;
  close(): Promise<void>;
}

export function openedOf(chat: ChatRequest): Opened {
  const { model, stream, includeUsage, sampling, cacheKey, messages } = chat;
  const callIds = messages.flatMap((message) => (message.tool_calls ?? []).map((call) => call.id));
  return { model, stream, includeUsage, sampling, cacheKey, callIds };
}

export class DirectSettler implements Settler {
  readonly #open = new Map<string, Asked>();
  readonly #bodies = new BodyReader();
  readonly #breaker = new LoopBreaker();

  constructor(
    private readonly recorder: Recorder,
    private readonly guard: Pick<Guard, 'checkResponse'>,
    private readonly upkeep: (message: ToUpkeep) => void = () => undefined,
  ) {}

  async open(id: string, api: Api, body: Buffer, loopKey: string | null, origin: Origin): Promise<Opened> {
    const dialect = DIALECTS[api];
    const chat = dialect.parse(this.#bodies.read(body, dialect.list));
    if (loopKey !== null) {
      const caller = `${loopKey}\n${chat.cacheKey ?? ''}`;
      this.#breaker.checkTurn(caller, chat);
      this.#breaker.checkCalls(caller, chat);
    }
    const began = origin === 'user' ? this.recorder.begin(chat.messages) : undefined;
    this.#open.set(id, { messages: chat.messages, tools: chat.tools, began });
    const cwd = origin === 'user' ? beginsIn(chat.messages) : undefined;
    if (cwd !== undefined) this.upkeep({ kind: 'begun', requestId: id, cwd });
    return openedOf(chat);
  }

  async check(id: string, input: Omit<GuardInput, 'request'>): Promise<CallVerdict[]> {
    const request = this.#asked(id);
    const verdicts = noteRepeats(await this.guard.checkResponse({ ...input, request }), input.toolCalls, request);
    return input.origin === 'user' ? handBackUnreadable(verdicts, input.toolCalls) : verdicts;
  }

  async record(entry: Entry): Promise<Request | null> {
    const [result = null] = this.recordAll([entry]);
    if (result instanceof Error) throw result;
    return result;
  }

  /** In one commit; what cannot be stored is an error in its place and takes nothing else with it. */
  recordAll(entries: readonly Entry[]): (Request | null | Error)[] {
    const results: (Request | null | Error)[] = entries.map(({ id }) => new Error(`Request ${id} is not open.`));
    const open = entries.flatMap((entry, at) => {
      const asked = this.#open.get(entry.id);
      return asked ? [{ at, entry: { ...entry, ...asked } }] : [];
    });
    try {
      this.recorder.recordAll(open.map(({ entry }) => entry)).forEach((result, i) => {
        results[open[i]!.at] = result;
      });
    } catch (cause) {
      // The commit itself: nothing of it is stored.
      for (const { at } of open) results[at] = cause instanceof Error ? cause : new Error(String(cause));
    }
    // Of an answer that could not be stored the failure is still to be.
    entries.forEach(({ id, status }, at) => {
      if (status === 'ok' && results[at] instanceof Error) return;
      this.#open.delete(id);
      this.#tellUpkeep(entries[at]!, results[at]!);
    });
    return results;
  }

  releaseWorker(workerKey: string): void {
    this.recorder.releaseWorker(workerKey);
  }

  async close(): Promise<void> {}

  #tellUpkeep({ id, session }: Entry, result: Request | null | Error): void {
    if (session.origin !== 'user') return;
    const stored = result !== null && !(result instanceof Error);
    this.upkeep(
      stored ? { kind: 'stored', requestId: id, sessionId: result.sessionId } : { kind: 'dropped', requestId: id },
    );
  }

  #asked(id: string): Asked {
    const asked = this.#open.get(id);
    if (!asked) throw new Error(`Request ${id} is not open.`);
    return asked;
  }
}
