import type { ParsedAnswer } from '../../engine/codec.js';

const CALL = /<tool_call>(.*?)<\/tool_call>/gs;
const COMPACT_CALL = /^\{"name":"(?:[^"\\]|\\.)*","arguments":(\{.*\})\}$/s;

/** Splits an answer into text and tool calls. A call that is no JSON object of the right form stays text. Never throws. */
export function parseAnswer(text: string): ParsedAnswer {
  const toolCalls: ParsedAnswer['toolCalls'] = [];
  const content = text.replace(CALL, (whole, body: string) => {
    const call = parseCall(body);
    if (!call) return whole;
    toolCalls.push(call);
    return '';
  });
  return { content, toolCalls };
}

function parseCall(body: string): ParsedAnswer['toolCalls'][number] | null {
  let call: unknown;
  try {
    call = JSON.parse(body);
  } catch {
    return null;
  }
  if (typeof call !== 'object' || call === null) return null;
  const { name, arguments: args } = call as { name?: unknown; arguments?: unknown };
  if (typeof name !== 'string' || name === '' || typeof args !== 'object' || args === null || Array.isArray(args))
    return null;
  return { name, arguments: COMPACT_CALL.exec(body)?.[1] ?? JSON.stringify(args) };
}
