/** Has the engine sample an answer. */
import { randomBytes } from 'node:crypto';
import type { Sampling } from '../engine/protocol.js';
import type { Answer } from './answer.js';
import type { Caller } from './caller.js';
import { type ChatRequest, checkForEngine } from './chat-request.js';
import type { UpstreamSink } from './dialects/collected.js';
import { engineOptions } from './engine-options.js';
import type { ProxyServices, SampledCall } from './services.js';

export async function askEngine(
  { engine, deadlines }: ProxyServices,
  chat: ChatRequest,
  sampling: Sampling,
  caller: Pick<Caller, 'adapter' | 'priority' | 'maxPromptTokens'>,
  sink: UpstreamSink,
  signal: AbortSignal,
): Promise<Answer> {
  checkForEngine(chat);
  const result = await engine.chat(
    {
      messages: chat.messages,
      ...(chat.tools.length > 0 && { tools: chat.tools }),
      sampling,
      adapter: caller.adapter,
      priority: caller.priority,
      ...(caller.maxPromptTokens !== null && { maxPromptTokens: caller.maxPromptTokens }),
      ...engineOptions(chat),
    },
    {
      signal,
      timeoutMs: deadlines.engineMs,
      onDelta: ({ text, reasoning }) => {
        if (reasoning) sink.reasoning({ field: 'reasoning_content', text: reasoning });
        if (text !== '') sink.text(text);
      },
    },
  );
  const toolCalls = withIds(result.toolCalls);
  return {
    content: result.content,
    reasoning: result.reasoning === undefined ? null : { field: 'reasoning_content', text: result.reasoning },
    toolCalls,
    finish: consistentFinish(result.finish, toolCalls),
    tokens: { promptIds: result.promptIds, completionIds: result.completionIds, logprobs: result.logprobs },
    promptTokens: result.promptIds.length,
    completionTokens: result.completionIds.length,
    cachedTokens: result.cachedTokens,
    firstTokenMs: result.firstTokenMs,
    adapterHash: result.adapterHash,
    synthetic: false,
  };
}

/** Every call gets an id of its own, also among those `used` before: opencode fails without one, and verdicts are told apart by it. */
export function withIds(calls: readonly SampledCall[], used = new Set<string>()): SampledCall[] {
  return calls.map((call) => {
    const id = call.id === '' || used.has(call.id) ? `call_${randomBytes(9).toString('hex')}` : call.id;
    used.add(id);
    return { ...call, id };
  });
}

/** `tool_calls` exactly when there are calls; harnesses loop on the other combinations. */
export function consistentFinish(finish: string, calls: readonly SampledCall[]): Answer['finish'] {
  if (finish === 'length' || finish === 'content_filter') return finish;
  return calls.length > 0 ? 'tool_calls' : 'stop';
}
