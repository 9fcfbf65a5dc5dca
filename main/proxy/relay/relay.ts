/**
 * Passes an upstream answer on in the dialect that the harness speaks, byte for byte. What the guard has to see, and what ends the
 * answer, waits for the verdict and the commit; an edit touches only what waited.
 */
import type { ServerResponse } from 'node:http';
import { type Answer, originalFinish, type Served } from '../answer.js';
import type { ChatResponse } from '../chat-response.js';
import type { Dialect } from '../dialects/dialect.js';
import type { HttpError } from '../http-error.js';
import type { SampledCall } from '../services.js';
import type { Edit, Editor, Json } from './edit.js';
import { parseShared, record, word } from './edit.js';
import { MAX_ANSWER_BYTES, tooLong } from './receive.js';
import type { SseEvent } from './sse-reader.js';

/** What an upstream answer was before anything was put right in it. */
export interface Original {
  calls: readonly SampledCall[];
  finish: string | null;
  /** Strict clients refuse the pieces that the calls came in. */
  irregular: boolean;
}

/** undefined: the answer goes on as it came. */
export function editOf(original: Original, answer: Answer, served: Served): Edit | undefined {
  const kept = new Map(served.toolCalls.map((call) => [call.id, call]));
  const calls = answer.toolCalls.map((call) => kept.get(call.id) ?? null);
  const renamed = answer.toolCalls.some((call, at) => call.id !== original.calls[at]?.id);
  const rewritten = calls.some((call, at) => call !== null && call !== answer.toolCalls[at]);
  // Calls with `stop` harm nobody; `tool_calls` without calls, and reasons that no harness knows, do.
  const misled =
    originalFinish(original.finish) !== served.finish &&
    !(original.finish === 'stop' && served.finish === 'tool_calls');
  if (served.notice === null && !renamed && !rewritten && !misled && !original.irregular) return undefined;
  return { calls, notice: served.notice, finish: served.finish, hasText: answer.content !== '' };
}

const parse = (data: string): Json | null => {
  try {
    return record(parseShared(data));
  } catch {
    return null;
  }
};

/** End-to-end headers of an upstream answer that say nothing about a connection, a length or a cookie. */
const DROPPED =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|set-cookie.*|date|alt-svc|strict-transport-security|access-control-.*)$/i;

export function passedHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string | string[]] => entry[1] !== undefined && !DROPPED.test(entry[0]),
    ),
  );
}

abstract class Relay implements ChatResponse {
  original: Original = { calls: [], finish: null, irregular: false };

  constructor(
    protected readonly response: ServerResponse,
    protected readonly dialect: Dialect,
    protected readonly headers: Record<string, string | string[]>,
  ) {}

  text(): void {}

  reasoning(): void {}

  abstract finish(answer: Answer, served: Served): void;

  fail(error: HttpError): void {
    if (!this.response.headersSent) this.dialect.sendError(this.response, error);
    else if (!this.response.destroyed && !this.response.writableEnded)
      this.response.end(this.dialect.failureEvent(error));
  }
}

export class StreamRelay extends Relay {
  readonly #held: SseEvent[] = [];
  #heldBytes = 0;
  #holding = false;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(
    response: ServerResponse,
    dialect: Dialect,
    headers: Record<string, string | string[]>,
    keepAliveMs: number,
  ) {
    super(response, dialect, headers);
    // A held call may take long to be written: the harness sees that the stream lives.
    this.#keepAlive = setInterval(() => {
      if (!this.#holding || response.destroyed || response.writableEnded) return;
      this.#open();
      response.write(': keep-alive\n\n');
    }, keepAliveMs);
    response.once('close', () => clearInterval(this.#keepAlive));
  }

  /** Passes or holds the event. A promise: the harness reads slower than the server writes. Throws 502 for an answer without end. */
  push(event: SseEvent): Promise<void> | undefined {
    if (!this.#holding && event.data !== null) {
      const data = event.data === '[DONE]' ? null : parse(event.data);
      this.#holding = data === null || this.#editor.holdsFrom(data);
    }
    if (!this.#holding) return this.#write(event.raw);
    this.#held.push(event);
    this.#heldBytes += event.raw.length;
    if (this.#heldBytes > MAX_ANSWER_BYTES) throw tooLong();
    return undefined;
  }

  finish(answer: Answer, served: Served): void {
    const edit = editOf(this.original, answer, served);
    clearInterval(this.#keepAlive);
    if (this.response.destroyed) return;
    this.#open();
    if (edit === undefined) for (const { raw } of this.#held) this.response.write(raw);
    else this.response.write(this.#edited(edit));
    this.response.end(this.#editor.tail(this.#held));
  }

  override fail(error: HttpError): void {
    clearInterval(this.#keepAlive);
    super.fail(error);
  }

  get #editor(): Editor {
    return this.dialect.editor;
  }

  #edited(edit: Edit): string {
    const events = this.#held.flatMap(({ data }): Json[] => {
      const event = data === null || data === '[DONE]' ? null : parse(data);
      return event === null ? [] : [event];
    });
    const text = this.#editor
      .stream(events, edit)
      .map((event) => `${this.#editor.named ? `event: ${word(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
    const done = this.#held.filter(({ data }) => data === '[DONE]').map(({ raw }) => raw.toString('utf8'));
    return [...text, ...done].join('');
  }

  #write(bytes: Buffer): Promise<void> | undefined {
    this.#open();
    if (this.response.destroyed || this.response.write(bytes)) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        this.response.off('drain', done).off('close', done);
        resolve();
      };
      this.response.on('drain', done).on('close', done);
    });
  }

  #open(): void {
    if (this.response.headersSent || this.response.destroyed) return;
    // They leave with what is written next, in one packet.
    this.response.writeHead(200, { ...this.headers, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
  }
}

export class DocumentRelay extends Relay {
  body: Buffer = Buffer.alloc(0);

  finish(answer: Answer, served: Served): void {
    const edit = editOf(this.original, answer, served);
    const body =
      edit === undefined
        ? this.body
        : Buffer.from(JSON.stringify(this.dialect.editor.document(parse(this.body.toString('utf8')) ?? {}, edit)));
    if (this.response.destroyed || this.response.headersSent) return;
    this.response.writeHead(200, { ...this.headers, 'content-length': body.length }).end(body);
  }
}
