/** The Chat Completions request: what the proxy needs is checked, what it does not know is kept. */
import { z } from 'zod';
import type { ChatMessage, Sampling, ToolDefinition } from '../engine/protocol.js';
import { parseWith } from './dialects/parse.js';
import { HttpError } from './http-error.js';
import { unservedField } from './unserved-fields.js';

const Part = z.looseObject({ type: z.string(), text: z.string().optional() });
const Message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(Part)]).nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string(),
        type: z.literal('function'),
        function: z.looseObject({ name: z.string(), arguments: z.string() }),
      }),
    )
    .nullish(),
  tool_call_id: z.string().optional(),
  name: z.string().nullish(),
});
const Tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().min(1),
    description: z.string().optional(),
    parameters: z.unknown().optional(),
  }),
});
const count = z.number().int().positive();
const Body = z.looseObject({
  model: z.string().min(1),
  messages: z.array(z.unknown()).min(1),
  tools: z.array(Tool).nullish(),
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  temperature: z.number().min(0).max(10).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.number().int().nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().positive().nullish(),
  seed: z.number().int().nullish(),
  max_tokens: count.nullish(),
  max_completion_tokens: count.nullish(),
  n: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  prompt_cache_key: z.string().nullish(),
  promptCacheKey: z.string().nullish(),
});

export interface ChatRequest {
  /** As asked for; echoed in the answer whatever adapter answers. */
  model: string;
  messages: ChatMessage[];
  /** Empty when the caller forbids tools. */
  tools: ToolDefinition[];
  stream: boolean;
  includeUsage: boolean;
  /** What the caller asked for; absent members are undefined. */
  sampling: Partial<Sampling>;
  cacheKey: string | null;
  /** The body as it came, for an upstream server. */
  raw: Record<string, unknown>;
}

/** Messages of conversations that go on are the same objects as in the request before (settle/body-reader.ts). */
const CHECKED = new WeakSet<object>();

function checkMessages(messages: readonly unknown[]): void {
  messages.forEach((message, at) => {
    if (typeof message === 'object' && message !== null && CHECKED.has(message)) return;
    parseWith(Message, message, `messages.${at}`);
    CHECKED.add(message as object);
  });
}

/** Throws 400 with the first field that is wrong. */
export function parseChatRequest(raw: Record<string, unknown>): ChatRequest {
  const body = parseWith(Body, raw);
  checkMessages(body.messages);
  if ((body.n ?? 1) !== 1) throw new HttpError(400, 'UNSUPPORTED', 'One answer a request is served: leave out `n`.');
  return {
    model: body.model,
    messages: raw.messages as ChatMessage[],
    tools: body.tool_choice === 'none' ? [] : ((raw.tools ?? []) as ToolDefinition[]),
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    sampling: {
      temperature: body.temperature ?? undefined,
      topP: body.top_p ?? undefined,
      topK: body.top_k ?? undefined,
      minP: body.min_p ?? undefined,
      repetitionPenalty: body.repetition_penalty ?? undefined,
      seed: body.seed ?? undefined,
      maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    },
    cacheKey: body.prompt_cache_key ?? body.promptCacheKey ?? null,
    raw,
  };
}

/** The engine reads text: throws 400 for images and the like, and for a field that it would have to disregard. */
export function checkForEngine(request: ChatRequest): void {
  const field = unservedField(request.raw, request.tools.length > 0);
  if (field !== undefined)
    throw new HttpError(
      400,
      'UNSUPPORTED',
      `This model's engine cannot do what \`${field}\` asks for: leave the field out.`,
    );
  for (const message of request.messages)
    if (Array.isArray(message.content))
      for (const part of message.content)
        if (part.type !== 'text')
          throw new HttpError(400, 'UNSUPPORTED', `This model reads text only, not content of type ${part.type}.`);
}
