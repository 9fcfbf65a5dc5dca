/** Chat messages in the form that chat templates expect. */
import type { TemplateMessage } from './chat-template.js';
import type { ChatMessage, ToolDefinition } from './protocol.js';

/** How arguments that are no JSON object are shown to the template. */
export type OddArguments = 'as-text' | 'wrapped';

/**
 * Text content, `developer` as `system`, and the arguments of calls as objects (what `apply_chat_template` passes). What
 * a model wrote as arguments and is no JSON object stays text; templates that iterate over it need it `wrapped`.
 */
export function templateMessages(messages: readonly ChatMessage[], odd: OddArguments): TemplateMessage[] {
  return messages.map((message) => ({
    role: message.role === 'developer' ? 'system' : message.role,
    content: contentText(message.content),
    ...(typeof message.reasoning_content === 'string' &&
      message.reasoning_content !== '' && { reasoning_content: message.reasoning_content }),
    ...(message.tool_calls?.length && {
      tool_calls: message.tool_calls.map(({ id, function: { name, arguments: text } }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: argumentsOf(text, odd) },
      })),
    }),
    ...(typeof message.tool_call_id === 'string' && { tool_call_id: message.tool_call_id }),
    ...(typeof message.name === 'string' && { name: message.name }),
  }));
}

function argumentsOf(text: string, odd: OddArguments): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // A model wrote it; the conversation must go on.
  }
  return odd === 'as-text' ? text : { arguments: text };
}

function contentText(content: ChatMessage['content']): string {
  if (content == null) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}

/**
 * The same conversation for a template that knows no tools: they are described in the system message, calls are written
 * as `<tool_call>` and results as `<tool_response>`, the way Hermes models do it.
 */
export function toolsAsText(messages: readonly TemplateMessage[], tools: readonly ToolDefinition[]): TemplateMessage[] {
  const out: TemplateMessage[] = [];
  const [first] = messages;
  if (tools.length > 0) {
    const own = first?.role === 'system' ? first.content : '';
    out.push({ role: 'system', content: [own, toolInstructions(tools)].filter((text) => text !== '').join('\n\n') });
  }
  for (const message of tools.length > 0 && first?.role === 'system' ? messages.slice(1) : messages) {
    const { tool_calls: calls = [], ...rest } = message;
    const callTexts = calls.map(
      ({ function: { name, arguments: args } }) =>
        `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`,
    );
    const isResult = message.role === 'tool';
    const content = isResult
      ? `<tool_response>\n${message.content}\n</tool_response>`
      : [message.content, ...callTexts].filter((text) => text !== '').join('\n');
    const before = out.at(-1);
    // Results of several calls are one turn: many templates insist that turns alternate.
    if (isResult && before?.role === 'user' && before.content.endsWith('</tool_response>'))
      before.content += `\n${content}`;
    else out.push({ ...rest, role: isResult ? 'user' : message.role, content });
  }
  return out;
}

function toolInstructions(tools: readonly ToolDefinition[]): string {
  const lines = tools.map((tool) => JSON.stringify(tool));
  return `You can call functions. Their signatures, one a line:
<tools>
${lines.join('\n')}
</tools>
To call one, answer with its name and arguments as JSON between tags:
<tool_call>
{"name": "…", "arguments": {…}}
</tool_call>`;
}
