/** The three wire forms of a request and an answer, read into the one form that the guard knows. */
import type { ChatMessage, ToolDefinition } from '../engine/protocol.js';
import type { GuardInput, SampledCall } from './types.js';

type Json = Record<string, unknown>;

/** Request and calls of a chat, responses or anthropic exchange. Unknown parts are left out, nothing throws. */
export function readExchange(request: unknown, response: unknown): Pick<GuardInput, 'request' | 'toolCalls'> {
  const asked = record(request);
  const messages: ChatMessage[] = [];
  if (asked.system !== undefined) messages.push({ role: 'system', content: text(asked.system) });
  if (typeof asked.instructions === 'string') messages.push({ role: 'system', content: asked.instructions });
  for (const item of list(asked.messages ?? asked.input)) messages.push(...readMessage(item));
  return { request: { messages, tools: list(asked.tools).map(readTool) }, toolCalls: readCalls(record(response)) };
}

function readTool(tool: Json): ToolDefinition {
  const inner = record(tool.function ?? tool);
  return {
    type: 'function',
    function: {
      name: string(inner.name),
      description: string(inner.description),
      parameters: inner.parameters ?? inner.input_schema,
    },
  };
}

function readMessage(item: Json): ChatMessage[] {
  if (item.type === 'function_call') return [assistant('', [readCall(item)])];
  if (item.type === 'function_call_output')
    return [{ role: 'tool', content: text(item.output), tool_call_id: string(item.call_id) }];
  const role = ['system', 'developer', 'user', 'assistant', 'tool'].find((known) => known === item.role) as
    | ChatMessage['role']
    | undefined;
  if (!role) return [];
  if (role === 'tool') return [{ role, content: text(item.content), tool_call_id: string(item.tool_call_id) }];
  const parts = list(item.content);
  if (role === 'assistant') {
    const calls = [...list(item.tool_calls), ...parts.filter((part) => part.type === 'tool_use')].map(readCall);
    return [assistant(text(item.content), calls)];
  }
  const results = parts.filter((part) => part.type === 'tool_result');
  return [
    ...results.map(
      (part): ChatMessage => ({ role: 'tool', content: text(part.content), tool_call_id: string(part.tool_use_id) }),
    ),
    { role, content: text(parts.length > 0 ? parts.filter((part) => part.type !== 'tool_result') : item.content) },
  ];
}

function assistant(content: string, calls: SampledCall[]): ChatMessage {
  return {
    role: 'assistant',
    content,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: args },
      })),
    }),
  };
}

function readCalls(answer: Json): SampledCall[] {
  const message = record(list(answer.choices)[0]?.message ?? answer);
  if (Array.isArray(message.tool_calls)) return list(message.tool_calls).map(readCall);
  return list(message.content ?? message.output)
    .filter((part) => part.type === 'tool_use' || part.type === 'function_call')
    .map(readCall);
}

function readCall(call: Json): SampledCall {
  const inner = record(call.function ?? call);
  const args = inner.arguments ?? inner.input;
  return {
    id: string(call.type === 'function_call' ? (call.call_id ?? call.id) : call.id),
    name: string(inner.name),
    arguments: typeof args === 'string' ? args : JSON.stringify(args ?? null),
  };
}

function text(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => (typeof part.text === 'string' ? part.text : text(part.content)))
    .join('\n');
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}
function record(value: unknown): Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
}
function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
