/**
 * `WindowBridge` over a WebSocket, for the window in a browser. Connects again after a drop, waiting longer each time;
 * calls made meanwhile wait for the connection up to their deadline. After every new connection listeners get
 * `window.resync`, since events may have been missed.
 */
import {
  CALLS,
  type CallInput,
  type CallName,
  type CallOutput,
  type Reply,
  type WindowBridge,
} from '../../contract/api.js';
import type { ErrorShape } from '../../contract/errors.js';
import { EVENTS, type EventMessage, isEventName } from '../../contract/events.js';

export type ConnectionState = 'connecting' | 'open' | 'lost' | 'signed-out';

const CALL_DEADLINE_MS = 15_000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;

interface OpenCall {
  name: CallName;
  frame: string;
  sent: boolean;
  settle(reply: Reply<unknown>): void;
}

export interface SocketBridgeOptions {
  url: string;
  onState(state: ConnectionState): void;
  /** Asked after a refused connection: is it the missing cookie? */
  isSignedIn(): Promise<boolean>;
}

export class SocketBridge implements WindowBridge {
  readonly #calls = new Map<number, OpenCall>();
  readonly #listeners = new Set<(message: EventMessage) => void>();
  #socket: WebSocket | undefined;
  #nextId = 1;
  #retryMs = FIRST_RETRY_MS;
  #connectedBefore = false;
  #closed = false;

  constructor(private readonly options: SocketBridgeOptions) {}

  connect(): void {
    if (this.#closed) return;
    if (!this.#connectedBefore) this.options.onState('connecting');
    const socket = new WebSocket(this.options.url);
    this.#socket = socket;
    socket.onopen = () => this.#opened();
    socket.onmessage = (message) => this.#received(String(message.data));
    socket.onclose = () => void this.#dropped();
  }

  close(): void {
    this.#closed = true;
    this.#socket?.close();
  }

  call<N extends CallName>(name: N, input: CallInput<N>): Promise<Reply<CallOutput<N>>> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.#settle(id, failed('DEADLINE', 'Tackroom did not answer in time.', 'Try again in a moment.')),
        CALL_DEADLINE_MS,
      );
      const settle: OpenCall['settle'] = (reply) => {
        clearTimeout(timer);
        resolve(reply as Reply<CallOutput<N>>);
      };
      this.#calls.set(id, { name, frame: JSON.stringify({ id, call: name, input }), sent: false, settle });
      this.#sendWaiting();
    });
  }

  onEvent(listener: (message: EventMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #opened(): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.options.onState('open');
    this.#sendWaiting();
    if (this.#connectedBefore) this.#emit({ event: 'window.resync', data: {} });
    this.#connectedBefore = true;
  }

  #sendWaiting(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    for (const call of this.#calls.values()) {
      if (call.sent) continue;
      call.sent = true;
      this.#socket.send(call.frame);
    }
  }

  /** Calls already sent may or may not have run: their callers decide. Unsent ones keep waiting. */
  async #dropped(): Promise<void> {
    for (const [id, call] of this.#calls)
      if (call.sent)
        this.#settle(id, failed('SERVICE_GONE', 'The connection to Tackroom was lost.', 'It reconnects by itself.'));
    if (this.#closed) return;
    if (!(await this.options.isSignedIn())) {
      this.options.onState('signed-out');
      return;
    }
    this.options.onState(this.#connectedBefore ? 'lost' : 'connecting');
    setTimeout(() => this.connect(), this.#retryMs);
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
  }

  #received(text: string): void {
    const frame = JSON.parse(text) as { id?: number; reply?: Reply<unknown>; event?: unknown; data?: unknown };
    if (isEventName(frame.event)) {
      const parsed = EVENTS[frame.event].safeParse(frame.data);
      if (parsed.success) this.#emit({ event: frame.event, data: parsed.data } as EventMessage);
      return;
    }
    const call = this.#calls.get(frame.id ?? -1);
    if (!call || !frame.reply) return;
    this.#settle(frame.id ?? -1, frame.reply.ok ? checked(call.name, frame.reply.output) : frame.reply);
  }

  #settle(id: number, reply: Reply<unknown>): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    call?.settle(reply);
  }

  #emit(message: EventMessage): void {
    for (const listener of this.#listeners) listener(message);
  }
}

const failed = (code: ErrorShape['code'], message: string, hint: string): Reply<never> => ({
  ok: false,
  error: { code, message, hint },
});

function checked(name: CallName, output: unknown): Reply<unknown> {
  const parsed = CALLS[name].output.safeParse(output);
  return parsed.success
    ? { ok: true, output: parsed.data }
    : failed('UNSUPPORTED', 'The answer comes from another version of Tackroom.', 'Reload the window.');
}
