/** A Chat Completions request in the words of another API, for an upstream server that speaks only that. */

import type { ChatMessage, ToolDefinition } from '../../engine/protocol.js';
import { HttpError } from '../http-error.js';
import type { Api } from './dialect.js';
import { type RawBody, textOf } from './parse.js';

/** Anthropic's API has no default of its own. */
const DEFAULT_MAX_TOKENS = 8192;

/** Throws 400 for what the other API has no words for. */
export function outgoingBody(api: Api, chat: RawBody): RawBody {
  return api === 'chat' ? chat : api === 'messages' ? messagesFrom(chat) : responsesFrom(chat);
}

const given = (name: string, value: unknown): RawBody =>
  value === undefined || value === null ? {} : { [name]: value };

const isNamed = (choice: unknown): choice is { function: { name: string } } =>
  typeof choice === 'object' && choice !== null && 'function' in choice;

function messagesFrom(chat: RawBody): RawBody {
  const system: string[] = [];
  const messages: { role: string; content: RawBody[] }[] = [];
  const say = (role: string, blocks: RawBody[]): void => {
    // Turns alternate there: results and words of the user are one turn.
    if (blocks.length === 0) return;
    if (messages.at(-1)?.role === role) messages.at(-1)!.content.push(...blocks);
    else messages.push({ role, content: blocks });
  };
  for (const message of chat.messages as ChatMessage[]) {
    if (message.role === 'system' || message.role === 'developer') system.push(textOf(message.content ?? ''));
    else if (message.role === 'tool')
      say('user', [
        { type: 'tool_result', tool_use_id: message.tool_call_id ?? '', content: textOf(message.content ?? '') },
      ]);
    else if (message.role === 'user') say('user', blocksOf(message.content));
    else say('assistant', [...blocksOf(message.content), ...(message.tool_calls ?? []).map(callBlock)]);
  }
  const tools = (chat.tools ?? []) as ToolDefinition[];
  const choice = chat.tool_choice;
  return {
    model: chat.model,
    max_tokens: chat.max_completion_tokens ?? chat.max_tokens ?? DEFAULT_MAX_TOKENS,
    ...(system.length > 0 && { system: system.join('\n\n') }),
    messages,
    ...(tools.length > 0 && {
      tools: tools.map(({ function: { name, description, parameters } }) => ({
        name,
        ...given('description', description),
        input_schema: parameters ?? { type: 'object' },
      })),
    }),
    ...(choice != null && {
      tool_choice:
        choice === 'required'
          ? { type: 'any' }
          : isNamed(choice)
            ? { type: 'tool', name: choice.function.name }
            : { type: choice },
    }),
    stream: chat.stream ?? false,
    ...given('temperature', chat.temperature),
    ...given('top_p', chat.top_p),
    ...given('top_k', chat.top_k),
    ...given('stop_sequences', typeof chat.stop === 'string' ? [chat.stop] : chat.stop),
  };
}

function blocksOf(content: ChatMessage['content']): RawBody[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return (content ?? []).map((part) =>
    part.type === 'text' ? { type: 'text', text: part.text ?? '' } : imageBlock(part),
  );
}

function imageBlock(part: { type: string; [member: string]: unknown }): RawBody {
  const url = (part.image_url as { url?: unknown } | undefined)?.url;
  if (part.type !== 'image_url' || typeof url !== 'string')
    throw new HttpError(
      400,
      'UNSUPPORTED',
      `Content of type ${part.type} cannot be translated for the upstream server.`,
    );
  const inline = /^data:([\w/+.-]+);base64,/.exec(url);
  const source = inline
    ? { type: 'base64', media_type: inline[1], data: url.slice(inline[0].length) }
    : { type: 'url', url };
  return { type: 'image', source };
}

function callBlock({
  id,
  function: { name, arguments: text },
}: NonNullable<ChatMessage['tool_calls']>[number]): RawBody {
  let input: unknown = {};
  try {
    input = JSON.parse(text === '' ? '{}' : text);
  } catch {
    // A call that the harness could not read either; it says so in the result.
  }
  return { type: 'tool_use', id, name, input };
}

function responsesFrom(chat: RawBody): RawBody {
  const tools = (chat.tools ?? []) as ToolDefinition[];
  const format = chat.response_format as { type?: string; json_schema?: RawBody } | undefined;
  const choice = chat.tool_choice;
  return {
    model: chat.model,
    input: (chat.messages as ChatMessage[]).flatMap(itemsOf),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', ...tool.function })) }),
    ...(choice != null && { tool_choice: isNamed(choice) ? { type: 'function', name: choice.function.name } : choice }),
    ...given('parallel_tool_calls', chat.parallel_tool_calls),
    stream: chat.stream ?? false,
    store: false,
    ...given('temperature', chat.temperature),
    ...given('top_p', chat.top_p),
    ...given('max_output_tokens', chat.max_completion_tokens ?? chat.max_tokens),
    ...given('prompt_cache_key', chat.prompt_cache_key),
    ...(format?.type && format.type !== 'text' && { text: { format: { type: format.type, ...format.json_schema } } }),
  };
}

function itemsOf(message: ChatMessage): RawBody[] {
  if (message.role === 'tool')
    return [
      { type: 'function_call_output', call_id: message.tool_call_id ?? '', output: textOf(message.content ?? '') },
    ];
  const side = message.role === 'assistant' ? 'output' : 'input';
  const content =
    typeof message.content === 'string'
      ? message.content
      : (message.content ?? []).map((part: { type: string; text?: string; image_url?: { url?: string } }) =>
          part.type === 'text'
            ? { type: `${side}_text`, text: part.text ?? '' }
            : { type: 'input_image', image_url: part.image_url?.url },
        );
  return [
    ...(content.length > 0 ? [{ type: 'message', role: message.role, content }] : []),
    ...(message.tool_calls ?? []).map(({ id, function: call }) => ({ type: 'function_call', call_id: id, ...call })),
  ];
}
