/**
 * Calls between Tackroom's own processes: newline-delimited JSON over a unix socket (a named pipe on Windows).
 *
 * Frames, one a line: `{id, method, params}` -> `{id, result}` | `{id, error}`; while a call runs the server may send
 * `{id, event}`; `{id, cancel: true}` asks it to stop. Frames without an id are broadcasts `{topic, data}`.
 * A dropped connection rejects every open call with SERVICE_GONE: the caller decides whether to repeat.
 */
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type ErrorShape, fromErrorShape, TackroomError, toErrorShape } from '../../contract/errors.js';

export interface CallContext {
  /** Aborted when the caller cancels or its connection drops. */
  signal: AbortSignal;
  /** Sends a progress event to the caller of this call. */
  emit(event: unknown): void;
}
export type Handler = (params: never, context: CallContext) => unknown;
export type Handlers = Record<string, Handler>;

interface Frame {
  id?: number;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: ErrorShape;
  event?: unknown;
  cancel?: boolean;
  topic?: string;
  data?: unknown;
}

function readFrames(socket: Socket, onFrame: (frame: Frame) => void): void {
  // Pieces of a line that is not whole yet: a long line is joined once, not searched again with every chunk.
  let pieces: string[] = [];
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    if (!chunk.includes('\n')) {
      pieces.push(chunk);
      return;
    }
    const lines = (pieces.join('') + chunk).split('\n');
    pieces = [lines.pop() ?? ''];
    for (const line of lines) {
      if (line === '') continue;
      let frame: Frame;
      try {
        frame = JSON.parse(line) as Frame;
      } catch {
        socket.destroy();
        return;
      }
      onFrame(frame);
    }
  });
}

const send = (socket: Socket, frame: Frame): void => {
  if (!socket.destroyed) socket.write(`${JSON.stringify(frame)}\n`);
};

export interface RpcServer {
  broadcast(topic: string, data: unknown): void;
  close(): Promise<void>;
}

/** Serves `handlers` on `path` (mode 0600). An old socket file is removed first. */
export async function serveRpc(path: string, handlers: Handlers): Promise<RpcServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    const running = new Map<number, AbortController>();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      for (const controller of running.values()) controller.abort();
    });
    readFrames(socket, (frame) => {
      const id = frame.id;
      if (id === undefined) return;
      if (frame.cancel) {
        running.get(id)?.abort();
        return;
      }
      const handler = handlers[frame.method ?? ''];
      const controller = new AbortController();
      running.set(id, controller);
      const context: CallContext = { signal: controller.signal, emit: (event) => send(socket, { id, event }) };
      void (async () => {
        try {
          if (!handler) throw new TackroomError('BAD_ARGUMENT', `Unknown call ${JSON.stringify(frame.method)}.`);
          const result = await handler((frame.params ?? {}) as never, context);
          send(socket, { id, result: result ?? null });
        } catch (error) {
          send(socket, { id, error: toErrorShape(error) });
        } finally {
          running.delete(id);
        }
      })();
    });
  });
  if (process.platform !== 'win32') rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
  if (process.platform !== 'win32') chmodSync(path, 0o600);
  return {
    broadcast(topic, data) {
      for (const socket of sockets) send(socket, { topic, data });
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

interface OpenCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onEvent?: (event: unknown) => void;
  timer?: NodeJS.Timeout;
  abort?: () => void;
}

export interface CallOptions {
  /** Rejects with DEADLINE after this long; the call is cancelled at the server. */
  timeoutMs?: number;
  signal?: AbortSignal;
  onEvent?: (event: unknown) => void;
}

/** One connection to a service. Connects on first use and again after a drop, waiting up to `connectTimeoutMs`. */
export class RpcClient {
  #socket: Socket | undefined;
  #connecting: Promise<Socket> | undefined;
  #next = 1;
  #open = new Map<number, OpenCall>();
  #topics = new Map<string, Set<(data: unknown) => void>>();
  #closed = false;

  constructor(
    private readonly path: string,
    private readonly service: string,
    private readonly connectTimeoutMs = 10_000,
  ) {}

  /** Calls `method`; errors are TackroomErrors. */
  async call<T>(method: string, params: unknown = {}, options: CallOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const socket = await this.#connect();
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      const call: OpenCall = { resolve: resolve as (value: unknown) => void, reject, onEvent: options.onEvent };
      const stop = (error: Error): void => {
        if (!this.#finish(id)) return;
        send(socket, { id, cancel: true });
        reject(error);
      };
      if (options.timeoutMs !== undefined) {
        const ms = options.timeoutMs;
        call.timer = setTimeout(
          () => stop(new TackroomError('DEADLINE', `The ${this.service} did not answer ${method} within ${ms} ms.`)),
          ms,
        );
      }
      if (options.signal) {
        const signal = options.signal;
        const onAbort = (): void => stop(new TackroomError('CANCELLED', `The call ${method} was cancelled.`));
        signal.addEventListener('abort', onAbort, { once: true });
        call.abort = () => signal.removeEventListener('abort', onAbort);
      }
      this.#open.set(id, call);
      send(socket, { id, method, params });
    });
  }

  /** Listens to a broadcast topic; returns the unsubscriber. */
  on(topic: string, listener: (data: unknown) => void): () => void {
    const set = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, set);
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Connects now, so that broadcasts arrive. */
  async connect(): Promise<void> {
    await this.#connect();
  }

  close(): void {
    this.#closed = true;
    this.#socket?.destroy();
  }

  #finish(id: number): OpenCall | undefined {
    const call = this.#open.get(id);
    if (!call) return undefined;
    this.#open.delete(id);
    clearTimeout(call.timer);
    call.abort?.();
    return call;
  }

  #connect(): Promise<Socket> {
    if (this.#closed)
      return Promise.reject(new TackroomError('SERVICE_GONE', `The ${this.service} connection is closed.`));
    if (this.#socket && !this.#socket.destroyed) return Promise.resolve(this.#socket);
    this.#connecting ??= this.#open_socket().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open_socket(): Promise<Socket> {
    const deadline = Date.now() + this.connectTimeoutMs;
    for (;;) {
      try {
        const socket = await new Promise<Socket>((resolve, reject) => {
          const s = connect(this.path);
          s.once('connect', () => resolve(s));
          s.once('error', reject);
        });
        this.#attach(socket);
        return socket;
      } catch (cause) {
        if (Date.now() > deadline || this.#closed)
          throw new TackroomError(
            'SERVICE_GONE',
            `The ${this.service} is not running.`,
            'It is started again by itself; try once more in a moment.',
            { cause },
          );
        await new Promise((r) => setTimeout(r, 50));
      }
    }
  }

  #attach(socket: Socket): void {
    this.#socket = socket;
    readFrames(socket, (frame) => {
      if (frame.topic !== undefined) {
        for (const listener of this.#topics.get(frame.topic) ?? []) listener(frame.data);
        return;
      }
      if (frame.id === undefined) return;
      if (frame.event !== undefined) {
        this.#open.get(frame.id)?.onEvent?.(frame.event);
        return;
      }
      const call = this.#finish(frame.id);
      if (frame.error) call?.reject(fromErrorShape(frame.error));
      else call?.resolve(frame.result);
    });
    const drop = (): void => {
      if (this.#socket === socket) this.#socket = undefined;
      socket.destroy();
      const gone = new TackroomError(
        'SERVICE_GONE',
        `The ${this.service} stopped while it was answering.`,
        'It is started again by itself; the call can be repeated.',
      );
      for (const id of [...this.#open.keys()]) this.#finish(id)?.reject(gone);
    };
    socket.on('error', drop);
    socket.on('close', drop);
  }
}
