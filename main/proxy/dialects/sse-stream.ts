/**
 * A response of server-sent events. The head goes out with the first event, so that a failure before it still has a status; after
 * `keepAliveMs` of silence it goes out anyway, followed by whatever keeps the client waiting.
 */
import type { ServerResponse } from 'node:http';

export class SseStream {
  readonly #keepAlive: NodeJS.Timeout;
  #opened = false;

  /** `onOpen` writes what every stream begins with; `ping` is one whole event or comment. */
  constructor(
    private readonly response: ServerResponse,
    private readonly onOpen: () => void,
    ping: string,
    keepAliveMs: number,
  ) {
    this.#keepAlive = setInterval(() => {
      this.open();
      this.raw(ping);
    }, keepAliveMs);
    response.once('close', () => clearInterval(this.#keepAlive));
  }

  get opened(): boolean {
    return this.#opened;
  }

  open(): void {
    if (this.#opened || this.response.headersSent || this.response.destroyed) return;
    this.#opened = true;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    this.onOpen();
  }

  /** An event with a name of its own, or without one. */
  event(data: unknown, name: string | null = null): void {
    this.open();
    this.raw(`${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
  }

  raw(text: string): void {
    if (!this.response.destroyed) this.response.write(text);
  }

  stop(): void {
    clearInterval(this.#keepAlive);
  }

  end(tail = ''): void {
    this.stop();
    if (!this.response.destroyed) this.response.end(tail);
  }
}
