/** Collects the deltas of an upstream server into one answer. Tool calls are kept back until the guard has seen them. */
import { z } from 'zod';
import { Collector, parseEvent, uncheckable, upstreamError } from './dialects/collected.js';
import type { SampledCall } from './services.js';

const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;

const ToolDelta = z.looseObject({
  index: z.number().int().nullish(),
  id: z.string().nullish(),
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

  get toolCalls(): SampledCall[] {
    return [...this.#calls.values()];
  }

  /** Takes a chunk, or a whole completion. Throws 502 for what is neither, and for an error event. */
  push(json: string): void {
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
    if (choice?.delta && choice.message) throw uncheckable('an answer twice');
    const delta = choice?.delta ?? choice?.message;
    if (delta?.function_call != null) throw uncheckable('a call in its form of 2023');
    if (delta) this.#delta(delta, Boolean(choice?.delta));
    if (choice?.finish_reason) this.finish = choice.finish_reason;
  }

  #delta(delta: z.infer<typeof Delta>, streamed: boolean): void {
    for (const field of REASONING_FIELDS) {
      const text = delta[field];
      if (!text) continue;
      this.think(text, field);
      break;
    }
    this.say(delta.content);
    for (const call of delta.tool_calls ?? []) {
      this.irregular ||= streamed && call.index == null;
      this.#call(call);
    }
  }

  /**
   * Some servers leave out the index: then an id opens a call, and a piece without one goes on with the last. Others give every call the
   * same: then another id with a name opens one.
   */
  #call(delta: z.infer<typeof ToolDelta>): void {
    let slot = delta.index != null ? `#${delta.index}` : delta.id ? `id ${delta.id}` : this.#lastSlot || '#0';
    if (delta.id == null && this.#lastSlot.startsWith(`${slot} `)) slot = this.#lastSlot;
    const known = this.#calls.get(slot);
    if (known && delta.id && delta.function?.name && known.id !== '' && known.id !== delta.id) {
      this.irregular = true;
      slot = `${slot} ${delta.id}`;
    }
    this.#lastSlot = slot;
    const call = this.#calls.get(slot) ?? { id: '', name: '', arguments: '' };
    this.#calls.set(slot, {
      id: call.id || (delta.id ?? ''),
      name: call.name + (delta.function?.name ?? ''),
      arguments: call.arguments + (delta.function?.arguments ?? ''),
    });
  }
}
