/** Messages of pi in the form of the wire. */
import type { ChatMessage, ToolDefinition } from '../../engine/protocol.js';
import type { PiMessage } from './pi-format.js';
import type { ImportedAnswer, ImportedResult } from './session-writer.js';
import { asCount, asExitCode, asRecord, asText, contentText } from './values.js';

export const compactionText = (summary: string): string =>
  `The conversation history before this point was compacted into the following summary:\n\n<summary>\n${summary}\n</summary>`;
export const branchText = (summary: string): string =>
  `The following is a summary of a branch that this conversation came back from:\n\n<summary>\n${summary}</summary>`;

/** pi 1.x keeps the prompt in sections; 0.7x keeps none. */
export function systemText(message: Record<string, unknown>): string {
  const sections = Object.values(asRecord(message.sections)).filter((text) => typeof text === 'string');
  const content = contentText(message.content);
  return [...sections, ...(content === '' ? [] : [content])].join('\n\n');
}

export function addedTools(message: Record<string, unknown>): ToolDefinition[] {
  return (Array.isArray(message.toolsAdded) ? message.toolsAdded : []).flatMap((tool: unknown) => {
    const { name, description, parameters } = asRecord(tool);
    if (typeof name !== 'string') return [];
    return [{ type: 'function' as const, function: { name, description: asText(description) ?? '', parameters } }];
  });
}

export function assistantMessage({ content }: PiMessage): ChatMessage | null {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const text = parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
  const reasoning = parts.map((part) => (part.type === 'thinking' ? (asText(part.thinking) ?? '') : '')).join('');
  const calls = parts.flatMap((part) => {
    if (part.type !== 'toolCall') return [];
    const args = typeof part.arguments === 'string' ? part.arguments : JSON.stringify(part.arguments ?? {});
    return [
      { id: part.id ?? '', type: 'function' as const, function: { name: asText(part.name) ?? '', arguments: args } },
    ];
  });
  if (text === '' && reasoning === '' && calls.length === 0) return null;
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

export function answerOf(message: PiMessage, key: string, at: number): ImportedAnswer {
  const stop = asText(message.stopReason) ?? '';
  const usage = asRecord(message.usage);
  const cached = asCount(usage.cacheRead);
  const responseId = asText(message.responseId) ?? '';
  return {
    key,
    at,
    model: asText(message.responseModel) ?? asText(message.model) ?? '',
    provider: asText(message.provider),
    answer: assistantMessage(message),
    finish: asText(message.rawStopReason) ?? stop,
    status: stop === 'error' ? 'error' : stop === 'aborted' ? 'cancelled' : 'ok',
    error: asText(message.errorMessage),
    promptTokens: asCount(usage.input) + cached + asCount(usage.cacheWrite),
    completionTokens: asCount(usage.output),
    cachedTokens: cached,
    durationMs: asCount(message.durationMs),
    ...(responseId !== '' && { responseId }),
  };
}

const EXIT = /Command exited with code (-?\d{1,9})\s*$/;

export function resultOf(message: PiMessage): ImportedResult {
  const text = contentText(message.content);
  const isError = message.isError ?? false;
  const code = EXIT.exec(text.slice(-100))?.[1];
  const ran = message.toolName === 'bash';
  return {
    callId: message.toolCallId ?? '',
    text,
    exitCode: !ran ? null : code !== undefined ? Number(code) : isError ? null : 0,
    isError,
  };
}

/** A command the user ran with `!`. */
export function commandText(message: Record<string, unknown>): string {
  const code = asExitCode(message.exitCode);
  const end = code === null || code === 0 ? '' : `\n\nCommand exited with code ${code}`;
  return `Ran \`${asText(message.command) ?? ''}\`\n\`\`\`\n${asText(message.output) ?? ''}\n\`\`\`${end}`;
}
