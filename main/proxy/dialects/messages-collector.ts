/** Collects an answer of an Anthropic server. Tool calls are kept back until the guard has seen them. */
import { z } from 'zod';
import type { SampledCall } from '../services.js';
import { Collector, parseEvent, uncheckable, upstreamError } from './collected.js';

const FINISH: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** The other two are run by the server. */
const KNOWN_CALLS = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);

const count = z.number().int().nonnegative().nullish().catch(0);
const Usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
const Block = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  thinking: z.string().nullish(),
  id: z.string().nullish(),
  name: z.string().nullish(),
  input: z.unknown().optional(),
});
const Message = z.looseObject({
  id: z.unknown().optional(),
  content: z.array(Block).nullish(),
  stop_reason: z.string().nullish(),
  usage: Usage.nullish(),
});
const Event = z.looseObject({
  type: z.string(),
  index: z.number().int().nonnegative().nullish(),
  message: Message.nullish(),
  content_block: Block.nullish(),
  delta: z
    .looseObject({
      text: z.string().nullish(),
      thinking: z.string().nullish(),
      partial_json: z.string().nullish(),
      stop_reason: z.string().nullish(),
    })
    .nullish(),
  usage: Usage.nullish(),
  error: z.looseObject({ message: z.string().nullish() }).nullish(),
  /** A whole answer is itself a message. */
  content: z.array(Block).nullish(),
  stop_reason: z.string().nullish(),
});

export class MessagesCollector extends Collector {
  readonly #calls: { index: number | null; call: SampledCall }[] = [];
  /** Blocks of calls that the server runs. */
  readonly #served = new Set<number | null>();

  get toolCalls(): SampledCall[] {
    return this.#calls.map(({ call }) => (call.arguments === '' ? { ...call, arguments: '{}' } : call));
  }

  push(json: string): void {
    const event = parseEvent(Event, json);
    if (event.type === 'error' || event.error) throw upstreamError(event.error?.message ?? undefined);
    if (event.type === 'message') this.#message(event as z.infer<typeof Message>);
    if (event.message) {
      if (event.message.content?.some((block) => block.type === 'tool_use'))
        throw uncheckable('a call before its block');
      this.#message(event.message);
    }
    if (event.content_block) this.#block(event.index ?? null, event.content_block);
    const { delta } = event;
    this.say(delta?.text);
    this.think(delta?.thinking);
    if (delta?.partial_json) this.#argue(event.index ?? null, delta.partial_json);
    this.#end(delta?.stop_reason, event.type === 'message' ? null : event.usage);
  }

  #message(message: z.infer<typeof Message>): void {
    this.named(message.id);
    message.content?.forEach((block, index) => void this.#block(index, block));
    this.#end(message.stop_reason, message.usage);
  }

  /** Every block that begins is a call of its own, also where an index comes twice or not at all. */
  #block(index: number | null, block: z.infer<typeof Block>): void {
    this.say(block.text);
    this.think(block.thinking);
    if (/tool_use$/.test(block.type) && !KNOWN_CALLS.has(block.type)) throw uncheckable(block.type);
    if (/tool_use$/.test(block.type) && block.type !== 'tool_use') this.#served.add(index);
    else this.#served.delete(index);
    if (block.type !== 'tool_use') return;
    const whole = typeof block.input === 'object' && block.input !== null && Object.keys(block.input).length > 0;
    const call = { id: block.id ?? '', name: block.name ?? '', arguments: whole ? JSON.stringify(block.input) : '' };
    this.#calls.push({ index, call });
  }

  #argue(index: number | null, text: string): void {
    if (this.#served.has(index)) return;
    const open = this.#calls.findLast((one) => index === null || one.index === index) ?? this.#calls.at(-1);
    if (!open) throw uncheckable('arguments of no call');
    open.call.arguments += text;
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
