/** Collects the deltas of an upstream server into one answer. Tool calls are kept back until the guard has seen them. */
import { z } from 'zod';
import { Collector, notAnAnswer, parseEvent, uncheckable, upstreamError } from './dialects/collected.js';
import type { SampledCall } from './services.js';

const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;

const ToolDelta = z.looseObject({
  index: z.number().int().nullish(),
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const Delta = z.looseObject({
  content: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_text: z.string().nullish(),
  tool_calls: z.array(ToolDelta).nullish(),
  function_call: z.unknown().optional(),
});
const Usage = z.looseObject({
  prompt_tokens: z.number().int().nonnegative().catch(0),
  completion_tokens: z.number().int().nonnegative().catch(0),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.number().int().nonnegative().nullish() }).nullish(),
});
const Choice = z.looseObject({
  index: z.number().nullish(),
  delta: Delta.nullish(),
  message: Delta.nullish(),
  finish_reason: z.string().nullish(),
});
const Chunk = z.looseObject({
  id: z.unknown().optional(),
  choices: z.array(Choice).nullish(),
  usage: Usage.nullish(),
  error: z.union([z.string(), z.looseObject({ message: z.string().nullish() })]).nullish(),
});

export class ChunkCollector extends Collector {
  readonly #calls = new Map<string, SampledCall>();
  #lastSlot = '';
  /** Words came after the last piece of a call: some clients take the next piece for another call. */
  #interrupted = false;

  get toolCalls(): SampledCall[] {
    return [...this.#calls.values()];
  }

  push(json: string): void {
    const choice = this.#choice(json);
    if (choice?.message) throw uncheckable('a whole message in a stream');
    if (choice?.delta) {
      this.#words(choice.delta);
      for (const call of choice.delta.tool_calls ?? []) this.#piece(call);
    }
    this.finish = choice?.finish_reason || this.finish;
  }

  document(json: string): void {
    const choice = this.#choice(json);
    if (!choice?.message) throw notAnAnswer();
    if (choice.delta) throw uncheckable('an answer twice');
    this.#words(choice.message);
    // Each is a call of its own, whatever it is called.
    for (const call of choice.message.tool_calls ?? []) this.#add(`${this.#calls.size}`, call);
    this.finish = choice.finish_reason || this.finish;
  }

  #choice(json: string): z.infer<typeof Choice> | undefined {
    const chunk = parseEvent(Chunk, json);
    if (chunk.error)
      throw upstreamError(typeof chunk.error === 'string' ? chunk.error : (chunk.error.message ?? undefined));
    if (chunk.usage) {
      this.promptTokens = chunk.usage.prompt_tokens;
      this.completionTokens = chunk.usage.completion_tokens;
      this.cachedTokens = chunk.usage.prompt_tokens_details?.cached_tokens ?? 0;
    }
    this.named(chunk.id);
    const choice = chunk.choices?.[0];
    if ((chunk.choices?.length ?? 0) > 1 || choice?.index) throw uncheckable('several answers');
    return choice;
  }

  #words(delta: z.infer<typeof Delta>): void {
    if (delta.function_call != null) throw uncheckable('a call in its form of 2023');
    const field = REASONING_FIELDS.find((name) => delta[name]);
    if (field) this.think(delta[field], field);
    this.say(delta.content);
    if (field || delta.content) this.#interrupted = true;
  }

  /**
   * Some servers leave out the index: then an id opens a call, and a piece without one goes on with the last. Others give every call the
   * same: then another id with a name opens one. Only what every client reads alike is regular: calls one after the other, id and name
   * once and at the beginning.
   */
  #piece(delta: z.infer<typeof ToolDelta>): void {
    let slot = delta.index != null ? `#${delta.index}` : delta.id ? `id ${delta.id}` : this.#lastSlot || '#0';
    if (delta.id == null && this.#lastSlot.startsWith(`${slot} `)) slot = this.#lastSlot;
    let known = this.#calls.get(slot);
    if (known && delta.id && delta.function?.name && known.id !== '' && known.id !== delta.id) {
      this.irregular = true;
      slot = `${slot} ${delta.id}`;
      known = this.#calls.get(slot);
    }
    this.irregular ||= delta.index == null || this.finish !== null;
    if (known) {
      const again = Boolean(delta.function?.name) || Boolean(delta.id && delta.id !== known.id);
      this.irregular ||= again || slot !== this.#lastSlot || this.#interrupted;
    } else this.irregular ||= !delta.function?.name;
    this.#lastSlot = slot;
    this.#interrupted = false;
    this.#add(slot, delta);
  }

  #add(slot: string, { id, type, function: called }: z.infer<typeof ToolDelta>): void {
    if (type && type !== 'function') throw uncheckable(`a call of type ${type}`);
    const call = this.#calls.get(slot) ?? { id: '', name: '', arguments: '' };
    const name = called?.name ?? '';
    this.count(`${name}${called?.arguments ?? ''}`);
    this.#calls.set(slot, {
      id: call.id || (id ?? ''),
      // Some servers repeat it with every piece.
      name: name === call.name ? name : call.name + name,
      arguments: call.arguments + (called?.arguments ?? ''),
    });
  }
}
