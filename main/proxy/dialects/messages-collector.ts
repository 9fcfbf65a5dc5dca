/** Collects an answer of an Anthropic server. Tool calls are kept back until the guard has seen them. */
import { z } from 'zod';
import type { Reasoning } from '../answer.js';
import type { SampledCall } from '../services.js';
import { type Collector, parseEvent, type UpstreamSink, upstreamError } from './collected.js';

const FINISH: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

const count = z.number().int().nonnegative().nullish().catch(0);
const Usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});
const Message = z.looseObject({ content: z.array(Block), stop_reason: z.string().nullish(), usage: Usage.nullish() });
const Event = z.looseObject({
  type: z.string(),
  index: z.number().int().nonnegative().optional(),
  message: Message.optional(),
  content_block: Block.optional(),
  delta: z
    .looseObject({
      text: z.string().optional(),
      thinking: z.string().optional(),
      partial_json: z.string().optional(),
      stop_reason: z.string().nullish(),
    })
    .optional(),
  usage: Usage.nullish(),
  error: z.looseObject({ message: z.string().optional() }).optional(),
  /** A whole answer is itself a message. */
  content: z.array(Block).optional(),
  stop_reason: z.string().nullish(),
});

export class MessagesCollector implements Collector {
  content = '';
  reasoning: Reasoning | null = null;
  finish: string | null = null;
  readonly irregular = false;
  promptTokens = 0;
  completionTokens = 0;
  cachedTokens = 0;
  readonly #calls = new Map<number, SampledCall>();

  constructor(private readonly sink: UpstreamSink) {}

  get toolCalls(): SampledCall[] {
    return [...this.#calls.values()].map((call) => (call.arguments === '' ? { ...call, arguments: '{}' } : call));
  }

  push(json: string): void {
    const event = parseEvent(Event, json);
    if (event.type === 'error' || event.error) throw upstreamError(event.error?.message);
    if (event.type === 'message') this.#message(event as z.infer<typeof Message>);
    if (event.message) this.#message(event.message);
    if (event.content_block) this.#block(event.index ?? 0, event.content_block);
    const { delta } = event;
    if (delta?.text) this.#text(delta.text);
    if (delta?.thinking) this.#think(delta.thinking);
    const call = this.#calls.get(event.index ?? -1);
    if (delta?.partial_json && call) call.arguments += delta.partial_json;
    this.#end(delta?.stop_reason, event.type === 'message' ? null : event.usage);
  }

  #message(message: z.infer<typeof Message>): void {
    message.content.forEach((block, index) => void this.#block(index, block));
    this.#end(message.stop_reason, message.usage);
  }

  #block(index: number, block: z.infer<typeof Block>): void {
    if (block.text) this.#text(block.text);
    if (block.thinking) this.#think(block.thinking);
    if (block.type !== 'tool_use') return;
    const whole = typeof block.input === 'object' && block.input !== null && Object.keys(block.input).length > 0;
    this.#calls.set(index, {
      id: block.id ?? '',
      name: block.name ?? '',
      arguments: whole ? JSON.stringify(block.input) : '',
    });
  }

  #text(text: string): void {
    this.content += text;
    this.sink.text(text);
  }

  #think(text: string): void {
    this.reasoning = { field: 'reasoning_content', text: (this.reasoning?.text ?? '') + text };
    this.sink.reasoning({ field: 'reasoning_content', text });
  }

  #end(reason: string | null | undefined, usage: z.infer<typeof Usage> | null | undefined): void {
    if (reason) this.finish = FINISH[reason] ?? 'stop';
    if (!usage) return;
    // Counts are cumulative; what an event leaves out stays.
    if (usage.input_tokens != null) {
      this.cachedTokens = usage.cache_read_input_tokens ?? this.cachedTokens;
      this.promptTokens = usage.input_tokens + this.cachedTokens + (usage.cache_creation_input_tokens ?? 0);
    }
    this.completionTokens = usage.output_tokens ?? this.completionTokens;
  }
}
