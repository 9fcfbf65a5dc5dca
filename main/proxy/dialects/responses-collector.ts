/**
 * Collects an answer of a server that speaks Responses. Tool calls are kept back until the guard has seen them, wherever they first
 * appear: in an item that begins, in one that is done, or only in the answer at the end.
 */
import { z } from 'zod';
import type { SampledCall } from '../services.js';
import { Collector, parseEvent, uncheckable, upstreamError } from './collected.js';

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

interface Gathered {
  call: SampledCall;
  names: string[];
  done: boolean;
}

export class ResponsesCollector extends Collector {
  readonly #calls: Gathered[] = [];

  get toolCalls(): SampledCall[] {
    return this.#calls.map(({ call }) => call);
  }

  push(json: string): void {
    const event = parseEvent(Event, json);
    const type = event.type ?? '';
    const delta = typeof event.delta === 'string' ? event.delta : '';
    this.named(event.response?.id);
    if (event.object === 'response') this.#whole(parseEvent(Response, json));
    else if (type === 'error') throw upstreamError(event.message ?? event.error?.message ?? undefined);
    else if (type === 'response.output_text.delta' || type === 'response.refusal.delta') this.say(delta);
    else if (type === 'response.reasoning_summary_text.delta' || type === 'response.reasoning_text.delta')
      this.think(delta);
    else if (type === 'response.function_call_arguments.delta') this.#argue(event, delta);
    else if (event.item) this.#item(event, event.item, type === 'response.output_item.done');
    else if (event.response && /^response\.(completed|incomplete|failed)$/.test(type)) this.#end(event.response);
  }

  /** Some servers leave out the index, the id, or both, or use the id of the call as that of its item. */
  #find(names: readonly string[], open: boolean): Gathered | undefined {
    const known = this.#calls.findLast((one) => names.some((name) => one.names.includes(name)));
    return known ?? (open ? this.#calls.findLast((one) => !one.done) : undefined);
  }

  #item(event: Event, item: Item, done: boolean): void {
    if (!isKnownItem(item.type)) throw uncheckable(item.type);
    if (!isCallItem(item.type)) return;
    const named = [
      item.call_id && `id ${item.call_id}`,
      (item.id ?? event.item_id) && `id ${item.id ?? event.item_id}`,
    ];
    const place = event.output_index == null ? [] : [`#${event.output_index}`];
    const names = [...named.filter((name): name is string => Boolean(name)), ...place];
    const begun = done
      ? (this.#find(names, false) ?? this.#calls.find((one) => !one.done && one.call.name === item.name))
      : undefined;
    if (begun) {
      begun.done = true;
      // The finished item holds the whole arguments; what was streamed is the same.
      begun.call = {
        id: item.call_id || begun.call.id,
        name: item.name || begun.call.name,
        arguments: item.arguments ?? begun.call.arguments,
      };
      return;
    }
    this.#calls.push({
      call: { id: item.call_id ?? '', name: item.name ?? '', arguments: item.arguments ?? '' },
      names,
      done,
    });
  }

  #argue(event: Event, delta: string): void {
    const names = [event.item_id && `id ${event.item_id}`, event.output_index != null && `#${event.output_index}`];
    const gathered = this.#find(
      names.filter((name): name is string => Boolean(name)),
      true,
    );
    if (gathered && !gathered.done) gathered.call.arguments += delta;
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
