/** Collects an answer of a server that speaks Responses. Tool calls are kept back until the guard has seen them. */
import { z } from 'zod';
import type { Reasoning } from '../answer.js';
import type { SampledCall } from '../services.js';
import { type Collector, parseEvent, type UpstreamSink, upstreamError } from './collected.js';

const count = z.number().int().nonnegative().catch(0);
const Part = z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() });
const Item = z.looseObject({
  id: z.string().nullish(),
  type: z.string(),
  content: z.array(Part).nullish(),
  summary: z.array(Part).nullish(),
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.string().nullish(),
});
const Response = z.looseObject({
  status: z.string().nullish(),
  output: z.array(Item).optional(),
  error: z.looseObject({ message: z.string().nullish() }).nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  usage: z
    .looseObject({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: z.looseObject({ cached_tokens: count }).nullish(),
    })
    .nullish(),
});
const Event = z.looseObject({
  type: z.string().optional(),
  object: z.string().optional(),
  delta: z.string().optional(),
  item_id: z.string().nullish(),
  output_index: z.number().int().nonnegative().nullish(),
  item: Item.optional(),
  arguments: z.string().nullish(),
  response: Response.optional(),
  message: z.string().nullish(),
  error: z.looseObject({ message: z.string().nullish() }).nullish(),
});

export class ResponsesCollector implements Collector {
  content = '';
  reasoning: Reasoning | null = null;
  finish: string | null = null;
  readonly irregular = false;
  promptTokens = 0;
  completionTokens = 0;
  cachedTokens = 0;
  /** By the id of the item; servers that leave the id out are told apart by the place in the output. */
  readonly #calls = new Map<string, SampledCall>();

  constructor(private readonly sink: UpstreamSink) {}

  get toolCalls(): SampledCall[] {
    return [...this.#calls.values()];
  }

  push(json: string): void {
    const event = parseEvent(Event, json);
    const { type = '', delta = '' } = event;
    if (event.object === 'response') this.#whole(parseEvent(Response, json));
    else if (type === 'error') throw upstreamError(event.message ?? event.error?.message ?? undefined);
    else if (type === 'response.output_text.delta' || type === 'response.refusal.delta') this.#text(delta);
    else if (type === 'response.reasoning_summary_text.delta' || type === 'response.reasoning_text.delta')
      this.#think(delta);
    else if (type === 'response.function_call_arguments.delta') this.#argue(event, delta);
    else if (type === 'response.output_item.added' || type === 'response.output_item.done') this.#item(event);
    else if (event.response && /^response\.(completed|incomplete|failed)$/.test(type)) this.#end(event.response);
  }

  #slot(event: z.infer<typeof Event>): string {
    return event.item?.id ?? event.item_id ?? `#${event.output_index ?? this.#calls.size}`;
  }

  #item(event: z.infer<typeof Event>): void {
    const item = event.item;
    if (item?.type !== 'function_call') return;
    const slot = this.#slot(event);
    const known = this.#calls.get(slot);
    // The finished item holds the whole arguments; what was streamed is the same.
    const args = event.type === 'response.output_item.done' ? (item.arguments ?? known?.arguments) : item.arguments;
    this.#calls.set(slot, {
      id: item.call_id ?? known?.id ?? '',
      name: item.name ?? known?.name ?? '',
      arguments: args ?? '',
    });
  }

  #argue(event: z.infer<typeof Event>, delta: string): void {
    const call = this.#calls.get(this.#slot(event));
    if (call) call.arguments += delta;
  }

  #whole(response: z.infer<typeof Response>): void {
    (response.output ?? []).forEach((item, index) => {
      if (item.type === 'message') for (const part of item.content ?? []) this.#text(part.text ?? part.refusal ?? '');
      if (item.type === 'reasoning')
        for (const part of item.summary ?? item.content ?? []) this.#think(part.text ?? '');
      if (item.type === 'function_call')
        this.#calls.set(item.id ?? `#${index}`, {
          id: item.call_id ?? '',
          name: item.name ?? '',
          arguments: item.arguments ?? '',
        });
    });
    this.#end(response);
  }

  #end(response: z.infer<typeof Response>): void {
    if (response.status === 'failed') throw upstreamError(response.error?.message ?? undefined);
    const reason = response.incomplete_details?.reason;
    if (response.status === 'incomplete') this.finish = reason === 'content_filter' ? 'content_filter' : 'length';
    else if (response.status === 'completed') this.finish = this.#calls.size > 0 ? 'tool_calls' : 'stop';
    if (!response.usage) return;
    this.promptTokens = response.usage.input_tokens;
    this.completionTokens = response.usage.output_tokens;
    this.cachedTokens = response.usage.input_tokens_details?.cached_tokens ?? 0;
  }

  #text(text: string): void {
    if (text === '') return;
    this.content += text;
    this.sink.text(text);
  }

  #think(text: string): void {
    if (text === '') return;
    this.reasoning = { field: 'reasoning_content', text: (this.reasoning?.text ?? '') + text };
    this.sink.reasoning({ field: 'reasoning_content', text });
  }
}
