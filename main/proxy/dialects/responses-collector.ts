/**
 * Collects an answer of a server that speaks Responses. Tool calls are kept back until the guard has seen them, wherever they first
 * appear: in an item that begins, in one that is done, or only in the answer at the end.
 */
import { z } from 'zod';
import type { SampledCall } from '../services.js';
import { Collector, notAnAnswer, parseEvent, uncheckable, upstreamError } from './collected.js';

const count = z.number().int().nonnegative().catch(0);
const Part = z.looseObject({ type: z.string().catch(''), text: z.string().nullish(), refusal: z.string().nullish() });
const Item = z.looseObject({
  id: z.string().nullish(),
  type: z.string(),
  content: z.array(Part).nullish().catch(null),
  summary: z.array(Part).nullish().catch(null),
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.string().nullish(),
});
const Response = z.looseObject({
  id: z.unknown().optional(),
  status: z.string().nullish(),
  output: z.array(Item).nullish(),
  error: z.looseObject({ message: z.string().nullish() }).nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  usage: z
    .looseObject({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: z.looseObject({ cached_tokens: count }).nullish(),
    })
    .nullish()
    .catch(null),
});
const Event = z.looseObject({
  type: z.string().nullish(),
  object: z.string().nullish(),
  delta: z.unknown().optional(),
  arguments: z.unknown().optional(),
  item_id: z.string().nullish(),
  output_index: z.number().int().nonnegative().nullish(),
  item: Item.nullish(),
  response: Response.nullish(),
  message: z.string().nullish(),
  error: z.looseObject({ message: z.string().nullish() }).nullish(),
});
type Event = z.infer<typeof Event>;
type Item = z.infer<typeof Item>;

/** Items that the server runs, or that are no calls. Any other kind of call would reach the harness unseen. */
const HARMLESS_ITEM =
  /^(?:message|reasoning|compaction|item_reference|(?:web_search|file_search|code_interpreter|image_generation|mcp)_call|mcp_list_tools|mcp_approval_request|.*_output)$/;

export const isCallItem = (type: unknown): boolean => type === 'function_call';
export const isKnownItem = (type: unknown): boolean =>
  isCallItem(type) || (typeof type === 'string' && HARMLESS_ITEM.test(type));

const ENDS = /^response\.(?:completed|incomplete|failed)$/;

/** The surest first. */
const namesOf = ({ item_id: id, output_index: place }: Event, item?: Item): string[] => [
  ...(item?.call_id ? [`id ${item.call_id}`] : []),
  ...((item?.id ?? id) ? [`id ${item?.id ?? id}`] : []),
  ...(place == null ? [] : [`#${place}`]),
];

interface Gathered {
  call: SampledCall;
  /** What its events may call it: id of the call, id of the item, place. */
  names: string[];
  done: boolean;
}

/**
 * Only what every client reads alike is regular: an item after the other, each begun, argued and done under one name, with the same
 * arguments in all three places. Some clients add every piece to the item that began last, some read only the finished one.
 */
export class ResponsesCollector extends Collector {
  readonly #calls: Gathered[] = [];
  /** The item that began last and is not done, when it is a call. */
  #current: Gathered | null = null;

  get toolCalls(): SampledCall[] {
    return this.#calls.map(({ call }) => call);
  }

  push(json: string): void {
    const event = parseEvent(Event, json);
    const type = event.type ?? '';
    const delta = typeof event.delta === 'string' ? event.delta : '';
    this.named(event.response?.id);
    if (type === 'error') throw upstreamError(event.message ?? event.error?.message ?? undefined);
    const ofCall = type.startsWith('response.function_call_arguments');
    if (this.finish !== null && (event.item || event.response || ofCall)) throw uncheckable('more after the end');
    if (
      event.response &&
      !ENDS.test(type) &&
      event.response.output?.some(({ type: kind }) => isCallItem(kind) || !isKnownItem(kind))
    )
      throw uncheckable('a call before its item');
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta') this.say(delta);
    else if (type === 'response.reasoning_summary_text.delta' || type === 'response.reasoning_text.delta')
      this.think(delta);
    else if (type === 'response.function_call_arguments.delta') this.#argue(event, delta);
    else if (type === 'response.function_call_arguments.done') this.#argued(event);
    else if (event.item) this.#item(type, event, event.item);
    else if (event.response && ENDS.test(type)) this.#end(event.response);
  }

  document(json: string): void {
    const { object } = parseEvent(Event, json);
    if (object !== 'response') throw notAnAnswer();
    this.#whole(parseEvent(Response, json));
  }

  #item(type: string, event: Event, item: Item): void {
    if (!isKnownItem(item.type)) throw uncheckable(item.type);
    const current = this.#current;
    this.#current = null;
    const done = type === 'response.output_item.done';
    if (!isCallItem(item.type)) {
      if (current) this.irregular = true;
      return;
    }
    if (!done && type !== 'response.output_item.added') throw uncheckable('an item in an unknown event');
    const names = namesOf(event, item);
    if (!done) {
      // Clients that keep calls by name or place would take it for an earlier one.
      if (current || this.#calls.some((one) => names.some((name) => one.names.includes(name)))) this.irregular = true;
      this.#current = this.#add(names, item, false);
      return;
    }
    const begun = this.#open(names) ?? this.#calls.find((one) => !one.done && one.call.name === item.name);
    if (!begun) {
      // Never begun, or done already: a call of its own.
      this.#add(names, item, true);
      this.irregular = true;
      return;
    }
    begun.done = true;
    const { id, name, arguments: text } = begun.call;
    // Clients differ in whether the pieces or the finished item count.
    this.irregular ||=
      begun !== current ||
      item.call_id !== id ||
      item.name !== name ||
      item.arguments !== text ||
      names.some((one) => !begun.names.includes(one));
    this.count(item.arguments ?? '');
    begun.call = { id: item.call_id || id, name: item.name || name, arguments: item.arguments || text };
  }

  #add(names: string[], item: Item, done: boolean): Gathered {
    this.count(item.arguments ?? '');
    const call = { id: item.call_id ?? '', name: item.name ?? '', arguments: item.arguments ?? '' };
    const gathered = { call, names, done };
    this.#calls.push(gathered);
    return gathered;
  }

  /** Some servers leave out the index, the id, or both, or use the id of the call as that of its item. */
  #open(names: readonly string[]): Gathered | undefined {
    for (const name of names) {
      const known = this.#calls.findLast((one) => !one.done && one.names.includes(name));
      if (known) return known;
    }
    return undefined;
  }

  /** The call that an event about arguments means. */
  #argues(event: Event): Gathered | undefined {
    const names = namesOf(event);
    const meant = this.#open(names) ?? this.#calls.findLast((one) => !one.done);
    this.irregular ||=
      meant === undefined || meant !== this.#current || names.some((name) => !meant.names.includes(name));
    return meant;
  }

  #argue(event: Event, delta: string): void {
    this.count(delta);
    const meant = this.#argues(event);
    if (meant) meant.call.arguments += delta;
  }

  #argued(event: Event): void {
    const meant = this.#argues(event);
    if (!meant || event.arguments === meant.call.arguments) return;
    this.irregular = true;
    if (typeof event.arguments !== 'string') return;
    this.count(event.arguments);
    meant.call.arguments = event.arguments;
  }

  #whole(response: z.infer<typeof Response>): void {
    this.named(response.id);
    for (const item of response.output ?? []) {
      if (item.type === 'message') for (const part of item.content ?? []) this.say(part.text ?? part.refusal);
      if (item.type === 'reasoning') for (const part of item.summary ?? item.content ?? []) this.think(part.text);
    }
    this.#end(response);
  }

  /** Its output holds every call; one that no event has named counts too. */
  #end(response: z.infer<typeof Response>): void {
    const seen = new Set<Gathered>();
    for (const item of response.output ?? []) {
      if (!isKnownItem(item.type)) throw uncheckable(item.type);
      if (!isCallItem(item.type)) continue;
      const same = this.#calls.find(
        (one) =>
          !seen.has(one) &&
          one.call.id === (item.call_id ?? '') &&
          one.call.name === (item.name ?? '') &&
          one.call.arguments === (item.arguments ?? ''),
      );
      if (same) seen.add(same);
      else {
        const call = { id: item.call_id ?? '', name: item.name ?? '', arguments: item.arguments ?? '' };
        const added = { call, names: [], done: true };
        this.count(call.arguments);
        seen.add(added);
        this.#calls.push(added);
      }
    }
    if (response.status === 'failed') throw upstreamError(response.error?.message ?? undefined);
    const reason = response.incomplete_details?.reason;
    if (response.status === 'incomplete') this.finish = reason === 'content_filter' ? 'content_filter' : 'length';
    else if (response.status === 'completed') this.finish = this.#calls.length > 0 ? 'tool_calls' : 'stop';
    if (!response.usage) return;
    this.promptTokens = response.usage.input_tokens;
    this.completionTokens = response.usage.output_tokens;
    this.cachedTokens = response.usage.input_tokens_details?.cached_tokens ?? 0;
  }
}
