/**
 * Anthropic Messages: the blocks of calls go, those that are left come anew from what the guard has judged, a block of text tells of the
 * rest, and blocks are numbered without a gap.
 */
import { inputOf } from '../dialects/messages-response.js';
import type { SampledCall } from '../services.js';
import { type Edit, type Editor, eventWith, type Json, list, record, word } from './edit.js';

const STOP_REASONS: Record<Edit['finish'], string> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
};
const isCall = (block: unknown): boolean => record(block).type === 'tool_use';
/** What a client may know; anything else could be read as something that nobody judged. */
const KNOWN = /^(?:message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|ping|error)$/;
/** Calls that the server runs by itself: `server_tool_use`, `mcp_tool_use`. */
const SERVED = /tool_use$/;
const WORDS = new Set(['text', 'thinking', 'redacted_thinking']);

function* textBlock(index: number, text: string): Generator<Json> {
  yield { type: 'content_block_start', index, content_block: { type: 'text', text: '' } };
  yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
  yield { type: 'content_block_stop', index };
}

function* callBlock(index: number, call: SampledCall): Generator<Json> {
  yield {
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
  };
  yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: call.arguments } };
  yield { type: 'content_block_stop', index };
}

function stream(held: readonly Json[], edit: Edit): Json[] {
  const out: Json[] = [];
  const places = new Map<unknown, number>();
  /** Calls that the server runs have arguments too, and stay. */
  const served = new Set<unknown>();
  const indexes = held.flatMap(({ index }) => (typeof index === 'number' ? [index] : []));
  let next = indexes.length > 0 ? Math.min(...indexes) : 0;
  let inCall = false;
  let told = false;
  const tell = (): void => {
    if (told) return;
    told = true;
    for (const call of edit.calls) if (call !== null) out.push(...callBlock(next++, call));
    if (edit.notice !== null) out.push(...textBlock(next++, edit.notice));
  };
  for (const event of held) {
    if (event.type === 'message_delta' || event.type === 'message_stop') {
      const delta = record(event.delta);
      if (delta.stop_reason || event.type === 'message_stop') tell();
      out.push(delta.stop_reason ? { ...event, delta: { ...delta, stop_reason: STOP_REASONS[edit.finish] } } : event);
      continue;
    }
    if (event.type === 'content_block_start') {
      inCall = isCall(event.content_block);
      if (SERVED.test(word(record(event.content_block).type)) && !inCall) served.add(event.index);
      else served.delete(event.index);
      if (!inCall) places.set(event.index, next++);
      else places.delete(event.index);
    }
    if (!KNOWN.test(word(event.type))) continue;
    const ofCall =
      (record(event.delta).type === 'input_json_delta' && !served.has(event.index)) ||
      (inCall && !places.has(event.index));
    if (word(event.type).startsWith('content_block') && ofCall) continue;
    const place = places.get(event.index);
    out.push(place === undefined ? event : { ...event, index: place });
  }
  return out;
}

function document(answer: Json, edit: Edit): Json {
  const content = list(answer.content).filter((block) => !isCall(block));
  const inputs = list(answer.content).filter(isCall);
  edit.calls.forEach((call, at) => {
    if (call !== null)
      content.push({
        ...inputs[at],
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: inputOf(call.arguments),
      });
  });
  if (edit.notice !== null) content.push({ type: 'text', text: edit.notice });
  return { ...answer, content, stop_reason: STOP_REASONS[edit.finish] };
}

const isLast = (data: string): boolean => eventWith(data, 'message_stop')?.type === 'message_stop';

export const messagesEditor: Editor = {
  named: true,
  holdsFrom(event) {
    if (event.type === 'content_block_start') return !WORDS.has(word(record(event.content_block).type));
    if (event.type === 'message_start')
      return list(record(event.message).content).some((block) => !WORDS.has(word(block.type)));
    if (event.type === 'content_block_delta') return record(event.delta).type === 'input_json_delta';
    return event.type !== 'content_block_stop' && event.type !== 'ping';
  },
  isLast,
  stream,
  document,
  tail: (held) =>
    held.some(({ data }) => data !== null && isLast(data))
      ? ''
      : 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
};
