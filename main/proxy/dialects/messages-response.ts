/** Answers in the form of Anthropic's Messages API: one document, or events. */
import type { ServerResponse } from 'node:http';
import type { Answer, Reasoning, Served } from '../answer.js';
import { type ChatResponse, type Identity, sendJson, withNotice } from '../chat-response.js';
import type { HttpError } from '../http-error.js';
import { SseStream } from './sse-stream.js';

const STOP_REASONS: Record<Served['finish'], string> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
};

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

export function messagesError(error: HttpError): unknown {
  return { type: 'error', error: { type: ERROR_TYPES[error.status] ?? 'api_error', message: error.message } };
}

const usageOf = (answer: Answer): Record<string, number> => ({
  input_tokens: answer.promptTokens - answer.cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: answer.cachedTokens,
  output_tokens: answer.completionTokens,
});

/** The guard stops arguments that are no JSON object; where it is off, a client still gets an object. */
export function inputOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {}
  return {};
}

const head = ({ id, model }: Identity): Record<string, unknown> => ({
  id: id.replace(/^chatcmpl-/, 'msg_'),
  type: 'message',
  role: 'assistant',
  model,
});

export class MessagesJson implements ChatResponse {
  constructor(
    private readonly response: ServerResponse,
    private readonly identity: Identity,
  ) {}

  text(): void {}

  reasoning(): void {}

  finish(answer: Answer, served: Served): void {
    const text = withNotice(answer.content, served.notice);
    sendJson(this.response, 200, {
      ...head(this.identity),
      content: [
        ...(answer.reasoning ? [{ type: 'thinking', thinking: answer.reasoning.text, signature: '' }] : []),
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...served.toolCalls.map((call) => ({
          type: 'tool_use',
          id: call.id,
          name: call.name,
          input: inputOf(call.arguments),
        })),
      ],
      stop_reason: STOP_REASONS[served.finish],
      stop_sequence: null,
      usage: usageOf(answer),
    });
  }

  fail(error: HttpError): void {
    sendJson(this.response, error.status, messagesError(error), error);
  }
}

type BlockKind = 'thinking' | 'text';

export class MessagesSse implements ChatResponse {
  readonly #stream: SseStream;
  #sentText = '';
  #sentReasoning = false;
  #index = -1;
  #block: BlockKind | null = null;

  constructor(
    private readonly response: ServerResponse,
    private readonly identity: Identity,
    keepAliveMs: number,
  ) {
    this.#stream = new SseStream(response, () => this.#start(), 'event: ping\ndata: {"type":"ping"}\n\n', keepAliveMs);
  }

  text(text: string): void {
    if (text === '') return;
    this.#sentText += text;
    this.#open('text');
    this.#delta({ type: 'text_delta', text });
  }

  reasoning(part: Reasoning): void {
    if (part.text === '') return;
    this.#sentReasoning = true;
    this.#open('thinking');
    this.#delta({ type: 'thinking_delta', thinking: part.text });
  }

  finish(answer: Answer, served: Served): void {
    if (answer.reasoning && !this.#sentReasoning) this.reasoning(answer.reasoning);
    if (answer.content.startsWith(this.#sentText)) this.text(answer.content.slice(this.#sentText.length));
    if (served.notice !== null) this.text(this.#sentText === '' ? served.notice : `\n\n${served.notice}`);
    this.#close();
    for (const call of served.toolCalls) {
      this.#begin({ type: 'tool_use', id: call.id, name: call.name, input: {} });
      this.#delta({ type: 'input_json_delta', partial_json: call.arguments === '' ? '{}' : call.arguments });
      this.#event({ type: 'content_block_stop', index: this.#index });
    }
    this.#event({
      type: 'message_delta',
      delta: { stop_reason: STOP_REASONS[served.finish], stop_sequence: null },
      usage: usageOf(answer),
    });
    this.#event({ type: 'message_stop' });
    this.#stream.end();
  }

  fail(error: HttpError): void {
    if (!this.#stream.opened) {
      this.#stream.stop();
      sendJson(this.response, error.status, messagesError(error), error);
      return;
    }
    this.#stream.event(messagesError(error), 'error');
    this.#stream.end();
  }

  /** The engine knows the length of the prompt later: the last event tells it. */
  #start(): void {
    const usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
    this.#event({
      type: 'message_start',
      message: { ...head(this.identity), content: [], stop_reason: null, stop_sequence: null, usage },
    });
  }

  #open(kind: BlockKind): void {
    if (this.#block === kind) return;
    this.#close();
    this.#block = kind;
    this.#begin(kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' });
  }

  #close(): void {
    if (this.#block === null) return;
    this.#block = null;
    this.#event({ type: 'content_block_stop', index: this.#index });
  }

  #begin(block: Record<string, unknown>): void {
    // The message begins before its first block.
    this.#stream.open();
    this.#index++;
    this.#event({ type: 'content_block_start', index: this.#index, content_block: block });
  }

  #delta(delta: Record<string, unknown>): void {
    this.#event({ type: 'content_block_delta', index: this.#index, delta });
  }

  #event(data: { type: string; [member: string]: unknown }): void {
    this.#stream.event(data, data.type);
  }
}
