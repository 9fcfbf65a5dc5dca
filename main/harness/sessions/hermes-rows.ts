/** Rows of hermes' `messages` table in the form of the wire. Columns differ between schemas 22 and 30. */
import type { ChatMessage } from '../../engine/protocol.js';
import { parseObject } from './json-lines.js';
import type { ImportedResult } from './session-writer.js';
import type { Row } from './sqlite-source.js';
import { asExitCode, asText, contentText } from './values.js';

/** Lists are stored with this in front. */
const JSON_MARK = '\0json:';

/** As it went over the wire: `api_content` where that differed from what was typed. */
export function rowText(row: Row): string {
  const text = asText(row.api_content) ?? asText(row.content) ?? '';
  if (!text.startsWith(JSON_MARK)) return text;
  try {
    return contentText(JSON.parse(text.slice(JSON_MARK.length)));
  } catch {
    return text.slice(JSON_MARK.length);
  }
}

export type Call = NonNullable<ChatMessage['tool_calls']>[number];

/** Old rows have calls without ids: they get the row's. */
export function rowCalls(row: Row): Call[] {
  const list = parseObject(`{"list":${asText(row.tool_calls) ?? '[]'}}`)?.list;
  return (Array.isArray(list) ? list : []).flatMap((item: unknown, i): Call[] => {
    const call = (item ?? {}) as { id?: unknown; name?: unknown; arguments?: unknown; function?: unknown };
    const { name, arguments: args } = (call.function ?? call) as { name?: unknown; arguments?: unknown };
    if (typeof name !== 'string') return [];
    const id = asText(call.id) ?? `row-${String(row.id)}-${i}`;
    const text = typeof args === 'string' ? args : JSON.stringify(args ?? {});
    return [{ id, type: 'function', function: { name, arguments: text } }];
  });
}

export function rowAnswer(row: Row): { answer: ChatMessage; replay: ChatMessage } {
  const calls = rowCalls(row);
  const replay: ChatMessage = {
    role: 'assistant',
    content: rowText(row),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  // A single space pads what must not be empty.
  const reasoning = (asText(row.reasoning_content) ?? asText(row.reasoning) ?? '').trim();
  // Reasoning is not sent again.
  return { replay, answer: reasoning === '' ? replay : { ...replay, reasoning_content: reasoning } };
}

/** Tools answer in JSON: `exit_code` -1 says that nothing ran. */
export function rowResult(row: Row, callId: string): ImportedResult {
  const text = rowText(row);
  const said = parseObject(text);
  const code = asExitCode(said?.exit_code);
  return {
    callId,
    text,
    exitCode: code === -1 ? null : code,
    isError: (code !== null && code !== 0) || (typeof said?.error === 'string' && said.error !== ''),
  };
}

const SUMMARY = /^\[(?:PRIOR CONTEXT|CONTEXT COMPACTION)/;
const NUDGES = [
  '[System: ',
  "You've reached the maximum number of tool-calling iterations",
  'You just executed tool calls but returned an empty response.',
  'Your previous turn indicated a tool call but none was included.',
  'Review the conversation above and ',
];

export const isSummary = (row: Row): boolean =>
  row._compressed_summary === 1 || SUMMARY.test(rowText(row).slice(0, 40));

export function markOf(row: Row): 'summary' | 'nudge' | undefined {
  if (isSummary(row)) return 'summary';
  const text = rowText(row);
  return NUDGES.some((nudge) => text.startsWith(nudge)) ? 'nudge' : undefined;
}
