/** An answer of the model, wherever it was sampled, and what the guard lets through of it. */
import type { ChatMessage } from '../engine/protocol.js';
import type { RequestTokens } from '../record/token-store.js';
import type { CallVerdict, SampledCall } from './services.js';

export type Finish = 'stop' | 'tool_calls' | 'length' | 'content_filter';

/** Reasoning under the field name it came in, so that it is replayed alike. */
export interface Reasoning {
  field: 'reasoning_content' | 'reasoning' | 'reasoning_text';
  text: string;
}

export interface Answer {
  content: string;
  reasoning: Reasoning | null;
  toolCalls: SampledCall[];
  finish: Finish;
  tokens: RequestTokens;
  promptTokens: number;
  completionTokens: number;
  /** Prompt tokens found in a cache. */
  cachedTokens: number;
  firstTokenMs: number | null;
  adapterHash: string | null;
  /** Made by the proxy itself. */
  synthetic: boolean;
  /** What another server called its answer. */
  responseId?: string;
}

/** What the harness gets to see. */
export interface Served {
  /** With the ids that were sampled; a blocked one may be a harmless one of the same id. */
  toolCalls: SampledCall[];
  /** Stands after the text, null when there is nothing to tell. */
  notice: string | null;
  finish: Finish;
  blocked: number;
}

export const NO_TOKENS: RequestTokens = { promptIds: [], completionIds: [], logprobs: [] };

export function textAnswer(content: string): Answer {
  return {
    content,
    reasoning: null,
    toolCalls: [],
    finish: 'stop',
    tokens: NO_TOKENS,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    firstTokenMs: null,
    adapterHash: null,
    synthetic: true,
  };
}

/** The answer as a message of the conversation, as sampled. */
export function answerMessage(answer: Pick<Answer, 'content' | 'reasoning' | 'toolCalls'>): ChatMessage {
  const { content, reasoning, toolCalls } = answer;
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    ...(reasoning && { [reasoning.field]: reasoning.text }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: text },
      })),
    }),
  };
}

/**
 * Takes the blocked calls out, or puts a harmless one in their place. With no call left an answer ends with `stop`: opencode asks for ever when `tool_calls` comes
 * without calls. `length` stays, whatever was blocked.
 */
export function applyVerdicts(
  answer: Answer,
  verdicts: readonly CallVerdict[],
  notice: (name: string, reason: string) => string,
): Served {
  const notices: string[] = [];
  let blocked = 0;
  const toolCalls = answer.toolCalls.flatMap((call) => {
    const block = verdicts.find((verdict) => verdict.toolCallId === call.id && verdict.verdict === 'block');
    if (!block) return [call];
    blocked++;
    if (block.instead) return [block.instead];
    notices.push(notice(call.name, block.reason));
    return [];
  });
  const finish = answer.finish === 'tool_calls' && toolCalls.length === 0 ? 'stop' : answer.finish;
  return { toolCalls, notice: notices.length > 0 ? notices.join('\n\n') : null, finish, blocked };
}

/** An upstream server's reason as a harness may hear it; null: none that a harness knows. */
export function originalFinish(finish: string | null): Finish | null {
  return finish === 'stop' || finish === 'tool_calls' || finish === 'length' || finish === 'content_filter'
    ? finish
    : null;
}
