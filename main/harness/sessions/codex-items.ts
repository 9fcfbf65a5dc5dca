/** Items of a Codex rollout in the form of the wire. */
import type { ChatMessage } from '../../engine/protocol.js';
import { parseObject } from './json-lines.js';
import type { ImportedResult } from './session-writer.js';
import { asCount, asExitCode, asRecord, asText, contentText } from './values.js';

export type Item = Record<string, unknown>;
export type Call = NonNullable<ChatMessage['tool_calls']>[number];

/** undefined: no call. */
export function callOf(item: Item): Call | undefined {
  const id = asText(item.call_id) ?? asText(item.id) ?? '';
  const call = (name: string, args: string): Call => ({ id, type: 'function', function: { name, arguments: args } });
  if (item.type === 'function_call') return call(asText(item.name) ?? '', asText(item.arguments) ?? '{}');
  if (item.type === 'custom_tool_call')
    return call(asText(item.name) ?? '', JSON.stringify({ input: asText(item.input) ?? '' }));
  if (item.type === 'local_shell_call') return call('local_shell', JSON.stringify(asRecord(item.action)));
  if (item.type === 'tool_search_call') return call('tool_search', JSON.stringify(asRecord(item.arguments)));
  return undefined;
}

export const isResult = (item: Item): boolean => /_output$/.test(asText(item.type) ?? '') && 'call_id' in item;

const EXIT = /^(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Process exited with code|Exit code:) (-?\d{1,9})$/m;

/** The exit code stands in the text, in one of three forms. */
export function resultOf(item: Item): ImportedResult {
  const output = asRecord(item.output);
  const text = typeof item.output === 'string' ? item.output : contentText(output.content ?? item.output);
  const code = exitCodeIn(text);
  return {
    callId: asText(item.call_id) ?? '',
    text,
    exitCode: code,
    isError: output.success === false || (code !== null && code !== 0),
  };
}

function exitCodeIn(text: string): number | null {
  if (text.startsWith('{')) return asExitCode(asRecord(parseObject(text)?.metadata).exit_code);
  // Only before the output, which may say anything.
  const head = text.slice(0, 400).split('\nOutput:\n', 1)[0]!;
  const found = EXIT.exec(head)?.[1];
  return found === undefined ? null : Number(found);
}

export function reasoningText(item: Item): string {
  const parts = [...list(item.summary), ...list(item.content)].map((part) => asText(asRecord(part).text) ?? '');
  return parts.filter((text) => text !== '').join('\n\n');
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const INJECTED =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_context|user_shell_command|turn_aborted|collaboration_mode|skills_instructions)\b|# AGENTS\.md instructions for )/;

/** A text that Codex added to the conversation. */
export const isInjected = (role: string, text: string): boolean => role === 'developer' || INJECTED.test(text);

export interface Usage {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
}

/** null: an event without numbers, or the same once more. */
export function usageOf(event: Item, before: { total: string }): Usage | null {
  const info = asRecord(event.info);
  const last = asRecord(info.last_token_usage);
  const total = JSON.stringify(info.total_token_usage ?? null);
  if (total === 'null' || total === before.total) return null;
  before.total = total;
  return {
    promptTokens: asCount(last.input_tokens),
    completionTokens: asCount(last.output_tokens),
    cachedTokens: asCount(last.cached_input_tokens),
  };
}
