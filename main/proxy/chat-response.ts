/** Chat Completions answers on the wire: one JSON document, or server-sent events. */
import type { ServerResponse } from 'node:http';
import { type Answer, answerMessage, type Reasoning, type Served } from './answer.js';
import { errorBody, type HttpError } from './http-error.js';

export interface Identity {
  /** Same in every chunk; harnesses keep it, so it joins their session files with our records. */
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
}

export interface ChatResponse {
  text(text: string): void;
  reasoning(part: Reasoning): void;
  /** Everything after the last text; the request is committed by now. */
  finish(answer: Answer, served: Served): void;
  /** Before anything was sent: a status. Afterwards: an error event, and no end marker. */
  fail(error: HttpError): void;
}

function usageOf(answer: Answer): Record<string, unknown> {
  return {
    prompt_tokens: answer.promptTokens,
    completion_tokens: answer.completionTokens,
    total_tokens: answer.promptTokens + answer.completionTokens,
    prompt_tokens_details: { cached_tokens: answer.cachedTokens },
  };
}

const withNotice = (text: string, notice: string | null): string =>
  notice === null ? text : text === '' ? notice : `${text}\n\n${notice}`;

export function sendError(response: ServerResponse, error: HttpError): void {
  if (response.headersSent || response.destroyed) return;
  const own = JSON.stringify(errorBody(error));
  const { body, contentType } = error.verbatim ?? { body: Buffer.from(own), contentType: 'application/json' };
  // A refused body is not read to its end, so the connection cannot be used again.
  const close = error.status === 413 ? { connection: 'close' } : {};
  // An overloaded engine has a place again soon; clients that know the header wait this long.
  const retry = error.status === 429 && error.verbatim === null ? { 'retry-after': '1' } : {};
  response
    .writeHead(error.status, { 'content-type': contentType, 'content-length': body.length, ...close, ...retry })
    .end(body);
}

export class JsonResponse implements ChatResponse {
  constructor(
    private readonly response: ServerResponse,
    private readonly identity: Identity,
  ) {}

  text(): void {}

  reasoning(): void {}

  finish(answer: Answer, served: Served): void {
    const message = answerMessage({
      ...answer,
      content: withNotice(answer.content, served.notice),
      toolCalls: served.toolCalls,
    });
    const choice = { index: 0, message, logprobs: null, finish_reason: served.finish };
    const body = JSON.stringify({
      ...this.identity,
      object: 'chat.completion',
      choices: [choice],
      usage: usageOf(answer),
    });
    if (this.response.destroyed) return;
    this.response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  }

  fail(error: HttpError): void {
    sendError(this.response, error);
  }
}

/**
 * Streams text at once. The head goes out with the first text, so that a failure before it still has a status; after
 * `keepAliveMs` of silence it goes out anyway, followed by comments.
 */
export class SseResponse implements ChatResponse {
  #sentText = '';
  #sentReasoning = false;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(
    private readonly response: ServerResponse,
    private readonly identity: Identity,
    private readonly includeUsage: boolean,
    keepAliveMs: number,
  ) {
    this.#keepAlive = setInterval(() => {
      this.#open();
      if (!response.destroyed) response.write(': keep-alive\n\n');
    }, keepAliveMs);
    response.once('close', () => clearInterval(this.#keepAlive));
  }

  text(text: string): void {
    if (text === '') return;
    this.#sentText += text;
    this.#delta({ content: text });
  }

  reasoning(part: Reasoning): void {
    this.#sentReasoning = true;
    this.#delta({ [part.field]: part.text });
  }

  finish(answer: Answer, served: Served): void {
    if (answer.reasoning && !this.#sentReasoning) this.reasoning(answer.reasoning);
    if (answer.content.startsWith(this.#sentText)) this.text(answer.content.slice(this.#sentText.length));
    if (served.notice !== null) this.text(this.#sentText === '' ? served.notice : `\n\n${served.notice}`);
    if (served.toolCalls.length > 0)
      this.#delta({
        tool_calls: served.toolCalls.map(({ id, name, arguments: text }, index) => ({
          index,
          id,
          type: 'function',
          function: { name, arguments: text },
        })),
      });
    this.#delta({}, served.finish);
    if (this.includeUsage) this.#event({ ...this.#chunk([]), usage: usageOf(answer) });
    this.#end('data: [DONE]\n\n');
  }

  fail(error: HttpError): void {
    if (!this.response.headersSent) {
      clearInterval(this.#keepAlive);
      sendError(this.response, error);
      return;
    }
    this.#event(errorBody(error));
    this.#end('');
  }

  #open(): void {
    if (this.response.headersSent || this.response.destroyed) return;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    this.#event(this.#chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]));
  }

  #delta(delta: Record<string, unknown>, finish: string | null = null): void {
    this.#open();
    this.#event(this.#chunk([{ index: 0, delta, finish_reason: finish }]));
  }

  #chunk(choices: unknown[]): Record<string, unknown> {
    return { ...this.identity, object: 'chat.completion.chunk', choices };
  }

  #event(data: unknown): void {
    if (!this.response.destroyed) this.response.write(`data: ${JSON.stringify(data)}\n\n`);
  }

  #end(tail: string): void {
    clearInterval(this.#keepAlive);
    if (!this.response.destroyed) this.response.end(tail);
  }
}
