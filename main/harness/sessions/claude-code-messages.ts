/** Lines of a Claude Code session in the form of the wire. */
import type { ChatMessage } from '../../engine/protocol.js';
import type { ImportedResult } from './session-writer.js';
import { asCount, asRecord, asText, contentText } from './values.js';

export type Line = Record<string, unknown>;

export const blocksOf = (line: Line): Record<string, unknown>[] => {
  const { content } = asRecord(line.message);
  return Array.isArray(content) ? content.map(asRecord) : [];
};

/** One message of the API stands on several lines, a block or more on each. */
export function answerOfLines(lines: readonly Line[]): ChatMessage | null {
  const blocks = lines.flatMap((line) => {
    const { content } = asRecord(line.message);
    return typeof content === 'string' ? [{ type: 'text', text: content }] : blocksOf(line);
  }) as Record<string, unknown>[];
  const join = (type: string, field: string): string =>
    blocks.map((block) => (block.type === type ? (asText(block[field]) ?? '') : '')).join('');
  const calls = blocks.flatMap((block) => {
    if (block.type !== 'tool_use') return [];
    const args = JSON.stringify(asRecord(block.input));
    return [
      {
        id: asText(block.id) ?? '',
        type: 'function' as const,
        function: { name: asText(block.name) ?? '', arguments: args },
      },
    ];
  });
  const text = join('text', 'text');
  const reasoning = join('thinking', 'thinking');
  if (text === '' && reasoning === '' && calls.length === 0) return null;
  return {
    role: 'assistant',
    content: text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** The same usage is repeated on every line; early ones may be unfinished. */
export function usageOf(lines: readonly Line[]): {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
} {
  const usages = lines.map((line) => asRecord(asRecord(line.message).usage));
  const most = (field: string): number => Math.max(0, ...usages.map((usage) => asCount(usage[field])));
  const cachedTokens = most('cache_read_input_tokens');
  return {
    promptTokens: most('input_tokens') + cachedTokens + most('cache_creation_input_tokens'),
    completionTokens: most('output_tokens'),
    cachedTokens,
  };
}

const EXIT = /^(?:Error: )?Exit code (-?\d{1,9})\b/;

/** A command's exit code stands in the text of its failure, and nowhere for a success. */
export function resultsOf(line: Line): ImportedResult[] {
  const detail = line.toolUseResult;
  return blocksOf(line).flatMap((block) => {
    if (block.type !== 'tool_result') return [];
    const text = contentText(block.content);
    const isError = block.is_error === true;
    const code = EXIT.exec(text)?.[1] ?? (typeof detail === 'string' ? EXIT.exec(detail)?.[1] : undefined);
    const { stdout, interrupted, backgroundTaskId } = asRecord(detail);
    const ended = typeof stdout === 'string' && interrupted !== true && backgroundTaskId === undefined;
    const exitCode = isError ? (code === undefined ? null : Number(code)) : ended ? 0 : null;
    return [{ callId: asText(block.tool_use_id) ?? '', text, exitCode, isError: isError || interrupted === true }];
  });
}

const INJECTED = /^\s*<(?:command-name|command-message|local-command-stdout|local-command-caveat|system-reminder)>/;

/** What of a user line is no result of a tool, and whether somebody typed it. */
export function askedOf(line: Line): { text: string; mark: 'summary' | 'context' | undefined } {
  const { content } = asRecord(line.message);
  const blocks = Array.isArray(content) ? content.filter((block) => asRecord(block).type !== 'tool_result') : content;
  const text = contentText(blocks);
  const mark =
    line.isCompactSummary === true ? 'summary' : line.isMeta === true || INJECTED.test(text) ? 'context' : undefined;
  return { text, mark };
}
