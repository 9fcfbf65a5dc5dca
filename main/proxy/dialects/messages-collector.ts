/** Collects an answer of an Anthropic server. Tool calls are kept back until the guard has seen them. */
import { z } from 'zod';
import type { SampledCall } from '../services.js';
import { Collector, notAnAnswer, parseEvent, uncheckable, upstreamError } from './collected.js';

const FINISH = new Map<string, string>(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    pause_turn: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'content_filter',
  }),
);

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
  type: z.string().nullish(),
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
      type: z.string().nullish(),
      text: z.string().nullish(),
      thinking: z.string().nullish(),
      partial_json: z.string().nullish(),
      stop_reason: z.string().nullish(),
    })
    .nullish(),
  usage: Usage.nullish(),
  error: z.looseObject({ message: z.string().nullish() }).nullish(),
  content: z.unknown().optional(),
});
type Event = z.infer<typeof Event>;
type Block = z.infer<typeof Block>;

/** Where a call, or a part of one, may stand; clients look nowhere else, or everywhere. */
const PARTS = ['message', 'content_block', 'delta', 'content'] as const;
const PART_OF = new Map<string, (typeof PARTS)[number]>(
  Object.entries({
    message_start: 'message',
    content_block_start: 'content_block',
    content_block_delta: 'delta',
    message_delta: 'delta',
  }),
);

interface Begun {
  call: SampledCall;
  /** Its input came with its beginning. */
  whole: boolean;
}

export class MessagesCollector extends Collector {
  readonly #calls: Begun[] = [];
  /** Blocks that have begun and not ended: a call, one that the server runs, or words. */
  readonly #open = new Map<number, Begun | 'served' | 'words'>();
  #blocks = 0;

  get toolCalls(): SampledCall[] {
    return this.#calls.map(({ call }) => (call.arguments === '' ? { ...call, arguments: '{}' } : call));
  }

  push(json: string): void {
    const event = parseEvent(Event, json);
    if (event.type === 'error' || event.error) throw upstreamError(event.error?.message ?? undefined);
    const { type, index } = event;
    if (PARTS.some((part) => event[part] != null && PART_OF.get(type) !== part)) throw uncheckable(`a strange ${type}`);
    if (type.startsWith('content_block_') && this.finish !== null) this.irregular = true;
    if (type === 'message_start' && event.message) this.#message(event.message);
    if (type === 'content_block_start') {
      if (event.content_block) this.#begin(index ?? null, event.content_block);
      // What comes for this index now belongs to no block that was begun.
      else if (index != null) this.#open.delete(index);
    }
    if (type === 'content_block_delta' && event.delta) this.#grow(index ?? null, event.delta);
    if (type === 'content_block_stop' && index != null) this.#open.delete(index);
    if (type === 'message_delta') this.#end(event.delta?.stop_reason, event.usage);
  }

  document(json: string): void {
    const message = parseEvent(Message, json);
    if (message.type === 'error') throw upstreamError(parseEvent(Event, json).error?.message ?? undefined);
    if (message.type !== 'message') throw notAnAnswer();
    this.named(message.id);
    for (const block of message.content ?? []) this.#block(block);
    this.#end(message.stop_reason, message.usage);
  }

  /** Anthropic's own clients read no event without its name. */
  protected override isMisnamed(name: string | null, type: unknown): boolean {
    return name !== type;
  }

  #message(message: z.infer<typeof Message>): void {
    this.named(message.id);
    for (const block of message.content ?? []) {
      if (/tool_use$/.test(block.type)) throw uncheckable('a call before its block');
      this.#block(block);
      this.#blocks++;
    }
    this.#end(message.stop_reason, message.usage);
  }

  /** Some clients go by the index of a block, others by its place. */
  #begin(index: number | null, block: Block): void {
    const begun = this.#block(block);
    // And some read the input that came with the beginning, others only its pieces.
    if (index !== this.#blocks++ || (typeof begun === 'object' && begun.whole)) this.irregular = true;
    if (index !== null) this.#open.set(index, begun);
    else if (typeof begun === 'object') throw uncheckable('a call without an index');
  }

  #block(block: Block): Begun | 'served' | 'words' {
    this.say(block.text);
    this.think(block.thinking);
    if (!/tool_use$/.test(block.type)) return 'words';
    if (!KNOWN_CALLS.has(block.type)) throw uncheckable(block.type);
    if (block.type !== 'tool_use') return 'served';
    const { input } = block;
    if (input != null && (typeof input !== 'object' || Array.isArray(input)))
      throw uncheckable('arguments that are no object');
    const text = input != null && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
    this.count(text);
    const begun = {
      call: { id: block.id ?? '', name: block.name ?? '', arguments: text },
      whole: text !== '',
    };
    this.#calls.push(begun);
    return begun;
  }

  /** Clients add each kind of piece to a block of its kind, and each leaves out others. */
  #grow(index: number | null, delta: NonNullable<Event['delta']>): void {
    const argues = delta.type === 'input_json_delta';
    if (argues ? delta.text || delta.thinking : delta.partial_json) throw uncheckable(`a strange ${delta.type}`);
    this.say(delta.text);
    this.think(delta.thinking);
    if (!delta.partial_json) return;
    const open = index === null ? undefined : this.#open.get(index);
    if (open === 'served') return;
    if (typeof open !== 'object') throw uncheckable('arguments of no call');
    this.count(delta.partial_json);
    if (open.whole) {
      open.whole = false;
      open.call.arguments = '';
    }
    open.call.arguments += delta.partial_json;
  }

  #end(reason: string | null | undefined, usage: z.infer<typeof Usage> | null | undefined): void {
    if (reason) this.finish = FINISH.get(reason) ?? 'stop';
    if (!usage) return;
    // Counts are cumulative; what an event leaves out stays.
    if (usage.input_tokens != null) {
      this.cachedTokens = usage.cache_read_input_tokens ?? this.cachedTokens;
      this.promptTokens = usage.input_tokens + this.cachedTokens + (usage.cache_creation_input_tokens ?? 0);
    }
    this.completionTokens = usage.output_tokens ?? this.completionTokens;
  }
}
