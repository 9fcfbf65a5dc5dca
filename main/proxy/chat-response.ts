/** Chat Completions answers on the wire: one JSON document, or server-sent events. */
import type { ServerResponse } from 'node:http';
import { type Answer, answerMessage, type Reasoning, type Served } from './answer.js';
import { SseStream } from './dialects/sse-stream.js';
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

/** The notice stands after the text. */
export const withNotice = (text: string, notice: string | null): string =>
  notice === null ? text : text === '' ? notice : `${text}\n\n${notice}`;

/** A document; for an error with what its status asks for, and the body of an upstream server as it came. */
export function sendJson(
  response: ServerResponse,
  status: number,
  document: unknown,
  error: HttpError | null = null,
): void {
  if (response.headersSent || response.destroyed) return;
  const { body, headers } = error?.verbatim ?? {
    body: Buffer.from(JSON.stringify(document)),
    // An overloaded engine has a place again soon; clients that know the header wait this long.
    headers: { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '1' }) },
  };
  // A refused body is not read to its end, so the connection cannot be used again.
  const close = status === 413 ? { connection: 'close' } : {};
  response.writeHead(status, { ...headers, 'content-length': body.length, ...close }).end(body);
}

export function sendError(response: ServerResponse, error: HttpError): void {
  sendJson(response, error.status, errorBody(error), error);
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
    sendJson(this.response, 200, {
      ...this.identity,
      object: 'chat.completion',
      choices: [choice],
      usage: usageOf(answer),
    });
  }

  fail(error: HttpError): void {
    sendError(this.response, error);
  }
}

/** Streams text at once; tool calls come whole, once the guard has seen them. */
export class SseResponse implements ChatResponse {
  #sentText = '';
  #sentReasoning = false;
  readonly #stream: SseStream;

  constructor(
    private readonly response: ServerResponse,
    private readonly identity: Identity,
    private readonly includeUsage: boolean,
    keepAliveMs: number,
  ) {
    const first = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null };
    this.#stream = new SseStream(
      response,
      () => this.#stream.event(this.#chunk([first])),
      ': keep-alive\n\n',
      keepAliveMs,
    );
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
    if (this.includeUsage) this.#stream.event({ ...this.#chunk([]), usage: usageOf(answer) });
    this.#stream.end('data: [DONE]\n\n');
  }

  fail(error: HttpError): void {
    if (!this.#stream.opened) {
      this.#stream.stop();
      sendError(this.response, error);
      return;
    }
    this.#stream.event(errorBody(error));
    this.#stream.end();
  }

  #delta(delta: Record<string, unknown>, finish: string | null = null): void {
    this.#stream.event(this.#chunk([{ index: 0, delta, finish_reason: finish }]));
  }

  #chunk(choices: unknown[]): Record<string, unknown> {
    return { ...this.identity, object: 'chat.completion.chunk', choices };
  }
}
