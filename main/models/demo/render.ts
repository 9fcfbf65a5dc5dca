import type { ChatMessage, ToolDefinition } from '../../engine/protocol.js';

/** A stretch of prompt: a control token, or text that must never become one. */
export interface Segment {
  text: string;
  control: boolean;
}

/**
 * The prompt of the demo model for the messages and tools of a chat request, as in `chat_template.jinja`:
 * `<|system|>…<|tools|>one tool per line<|end|><|user|>…<|end|><|assistant|><tool_call>{…}</tool_call><|end|><|tool|>…<|end|>`.
 * Ends with `<|assistant|>` unless `generate` is false.
 */
export function renderSegments(
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
  generate = true,
): Segment[] {
  const out: Segment[] = [];
  const control = (text: string) => out.push({ text, control: true });
  const plain = (text: string) => {
    if (text) out.push({ text, control: false });
  };
  const system = (text: string) => {
    control('<|system|>');
    plain(text);
    if (tools.length > 0) {
      control('<|tools|>');
      plain(tools.map(toolLine).join('\n'));
    }
    control('<|end|>');
  };
  const isSystem = (message: ChatMessage | undefined) => message?.role === 'system' || message?.role === 'developer';

  if (tools.length > 0 && !isSystem(messages[0])) system('');
  for (const message of messages) {
    if (isSystem(message)) {
      system(contentText(message.content));
      continue;
    }
    control(`<|${message.role}|>`);
    plain(contentText(message.content));
    if (message.role === 'assistant') {
      for (const call of message.tool_calls ?? []) {
        control('<tool_call>');
        plain(callText(call.function.name, call.function.arguments));
        control('</tool_call>');
      }
    }
    control('<|end|>');
  }
  if (generate) control('<|assistant|>');
  return out;
}

/** The whole prompt as one string; equals what the chat template gives. */
export function renderText(
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
  generate = true,
): string {
  return renderSegments(messages, tools, generate)
    .map((segment) => segment.text)
    .join('');
}

/** A tool definition on one line, keys in the order given. */
export function toolLine(tool: ToolDefinition): string {
  return JSON.stringify(tool.function);
}

/** What stands between the tool-call tokens; `args` is JSON text and kept as it is. */
export function callText(name: string, args: string): string {
  return `{"name":${JSON.stringify(name)},"arguments":${args}}`;
}

function contentText(content: ChatMessage['content']): string {
  if (content == null) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}
