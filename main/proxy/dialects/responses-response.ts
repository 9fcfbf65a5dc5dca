/** Answers in the form of OpenAI's Responses API: one document, or numbered events. */
import type { ServerResponse } from 'node:http';
import type { Answer, Reasoning, Served } from '../answer.js';
import { type ChatResponse, type Identity, sendError, sendJson, withNotice } from '../chat-response.js';
import { errorBody, type HttpError } from '../http-error.js';
import type { SampledCall } from '../services.js';
import { SseStream } from './sse-stream.js';

type Item = { id: string; type: string; [member: string]: unknown };

const INCOMPLETE: Partial<Record<Served['finish'], string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

/** The frame of an answer; the ids of its items follow from its own, so that the same answer has the same ids. */
class Frame {
  readonly #base: string;
  constructor(private readonly identity: Identity) {
    this.#base = identity.id.replace(/^chatcmpl-/, '');
  }

  id(kind: 'resp' | 'msg' | 'rs' | 'fc', index = 0): string {
    return kind === 'resp' ? `resp_${this.#base}` : `${kind}_${this.#base}_${index}`;
  }

  response(status: string, output: Item[], rest: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      id: this.id('resp'),
      object: 'response',
      created_at: this.identity.created,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      model: this.identity.model,
      output,
      parallel_tool_calls: true,
      previous_response_id: null,
      store: false,
      tool_choice: 'auto',
      tools: [],
      usage: null,
      metadata: {},
      ...rest,
    };
  }

  done(answer: Answer, finish: Served['finish'], output: Item[]): Record<string, unknown> {
    const reason = INCOMPLETE[finish];
    return this.response(reason === undefined ? 'completed' : 'incomplete', output, {
      incomplete_details: reason === undefined ? null : { reason },
      usage: {
        input_tokens: answer.promptTokens,
        input_tokens_details: { cached_tokens: answer.cachedTokens },
        output_tokens: answer.completionTokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: answer.promptTokens + answer.completionTokens,
      },
    });
  }

  reasoning(index: number, text: string): Item {
    return {
      id: this.id('rs', index),
      type: 'reasoning',
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
    };
  }

  message(index: number, status: string, text: string | null): Item {
    return {
      id: this.id('msg', index),
      type: 'message',
      status,
      role: 'assistant',
      content: text === null ? [] : [textPart(text)],
    };
  }

  call(index: number, status: string, call: SampledCall, text: string): Item {
    return {
      id: this.id('fc', index),
      type: 'function_call',
      status,
      call_id: call.id,
      name: call.name,
      arguments: text,
    };
  }
}

const textPart = (text: string): Record<string, unknown> => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
});

export class ResponsesJson implements ChatResponse {
  readonly #frame: Frame;
  constructor(
    private readonly response: ServerResponse,
    identity: Identity,
  ) {
    this.#frame = new Frame(identity);
  }

  text(): void {}

  reasoning(): void {}

  finish(answer: Answer, served: Served): void {
    const frame = this.#frame;
    const output: Item[] = [];
    if (answer.reasoning) output.push(frame.reasoning(output.length, answer.reasoning.text));
    const text = withNotice(answer.content, served.notice);
    if (text !== '') output.push(frame.message(output.length, 'completed', text));
    for (const call of served.toolCalls) output.push(frame.call(output.length, 'completed', call, call.arguments));
    sendJson(this.response, 200, frame.done(answer, served.finish, output));
  }

  fail(error: HttpError): void {
    sendError(this.response, error);
  }
}

/** What is open: an item of text or of reasoning that grows. */
interface Open {
  kind: 'message' | 'reasoning';
  index: number;
  text: string;
}

export class ResponsesSse implements ChatResponse {
  readonly #frame: Frame;
  readonly #stream: SseStream;
  readonly #output: Item[] = [];
  #open: Open | null = null;
  #sentText = '';
  #sentReasoning = false;
  #number = 0;

  constructor(
    private readonly response: ServerResponse,
    identity: Identity,
    keepAliveMs: number,
  ) {
    this.#frame = new Frame(identity);
    this.#stream = new SseStream(
      response,
      () => {
        this.#event('response.created', { response: this.#frame.response('in_progress', []) });
        this.#event('response.in_progress', { response: this.#frame.response('in_progress', []) });
      },
      ': keep-alive\n\n',
      keepAliveMs,
    );
  }

  text(text: string): void {
    if (text === '') return;
    this.#sentText += text;
    const open = this.#enter('message');
    open.text += text;
    this.#event('response.output_text.delta', { ...this.#place(open), content_index: 0, delta: text, logprobs: [] });
  }

  reasoning(part: Reasoning): void {
    if (part.text === '') return;
    this.#sentReasoning = true;
    const open = this.#enter('reasoning');
    open.text += part.text;
    this.#event('response.reasoning_summary_text.delta', { ...this.#place(open), summary_index: 0, delta: part.text });
  }

  finish(answer: Answer, served: Served): void {
    if (answer.reasoning && !this.#sentReasoning) this.reasoning(answer.reasoning);
    if (answer.content.startsWith(this.#sentText)) this.text(answer.content.slice(this.#sentText.length));
    if (served.notice !== null) this.text(this.#sentText === '' ? served.notice : `\n\n${served.notice}`);
    this.#leave();
    for (const call of served.toolCalls) this.#call(call);
    const response = this.#frame.done(answer, served.finish, this.#output);
    this.#event(`response.${String(response.status)}`, { response });
    this.#stream.end();
  }

  fail(error: HttpError): void {
    if (!this.#stream.opened) {
      this.#stream.stop();
      sendError(this.response, error);
      return;
    }
    const { message, code } = errorBody(error).error;
    this.#event('response.failed', {
      response: this.#frame.response('failed', this.#output, { error: { code, message } }),
    });
    this.#stream.end();
  }

  #enter(kind: Open['kind']): Open {
    if (this.#open?.kind === kind) return this.#open;
    this.#leave();
    this.#stream.open();
    const open: Open = { kind, index: this.#output.length, text: '' };
    this.#open = open;
    const item =
      kind === 'message' ? this.#frame.message(open.index, 'in_progress', null) : this.#frame.reasoning(open.index, '');
    this.#event('response.output_item.added', { output_index: open.index, item });
    if (kind === 'message')
      this.#event('response.content_part.added', { ...this.#place(open), content_index: 0, part: textPart('') });
    else
      this.#event('response.reasoning_summary_part.added', {
        ...this.#place(open),
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      });
    return open;
  }

  #leave(): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    const { text } = open;
    const place = this.#place(open);
    if (open.kind === 'message') {
      this.#event('response.output_text.done', { ...place, content_index: 0, text, logprobs: [] });
      this.#event('response.content_part.done', { ...place, content_index: 0, part: textPart(text) });
      this.#done(open.index, this.#frame.message(open.index, 'completed', text));
    } else {
      this.#event('response.reasoning_summary_text.done', { ...place, summary_index: 0, text });
      this.#event('response.reasoning_summary_part.done', {
        ...place,
        summary_index: 0,
        part: { type: 'summary_text', text },
      });
      this.#done(open.index, this.#frame.reasoning(open.index, text));
    }
  }

  #call(call: SampledCall): void {
    const index = this.#output.length;
    const place = { item_id: this.#frame.id('fc', index), output_index: index };
    this.#event('response.output_item.added', {
      output_index: index,
      item: this.#frame.call(index, 'in_progress', call, ''),
    });
    this.#event('response.function_call_arguments.delta', { ...place, delta: call.arguments });
    this.#event('response.function_call_arguments.done', { ...place, name: call.name, arguments: call.arguments });
    this.#done(index, this.#frame.call(index, 'completed', call, call.arguments));
  }

  #done(index: number, item: Item): void {
    this.#output.push(item);
    this.#event('response.output_item.done', { output_index: index, item });
  }

  #place(open: Open): { item_id: string; output_index: number } {
    return { item_id: this.#frame.id(open.kind === 'message' ? 'msg' : 'rs', open.index), output_index: open.index };
  }

  #event(type: string, rest: Record<string, unknown>): void {
    this.#stream.open();
    this.#stream.event({ type, sequence_number: this.#number++, ...rest }, type);
  }
}
