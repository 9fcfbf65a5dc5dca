/** Anthropic Messages: blocked blocks go, a block of text comes, and the blocks that are left are numbered without a gap. */
import { type Edit, type Editor, type Json, list, record } from './edit.js';

const STOP_REASONS: Record<Edit['finish'], string> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
};
const isCall = (block: unknown): boolean => record(block).type === 'tool_use';

function* textBlock(index: number, text: string): Generator<Json> {
  yield { type: 'content_block_start', index, content_block: { type: 'text', text: '' } };
  yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
  yield { type: 'content_block_stop', index };
}

function stream(held: readonly Json[], edit: Edit): Json[] {
  const out: Json[] = [];
  const places = new Map<unknown, number | null>();
  let next: number | null = null;
  let calls = 0;
  for (const event of held) {
    if (event.type === 'message_delta') {
      next ??= 0;
      if (edit.notice !== null) out.push(...textBlock(next++, edit.notice));
      out.push({ ...event, delta: { ...record(event.delta), stop_reason: STOP_REASONS[edit.finish] } });
      continue;
    }
    if (event.index === undefined) {
      out.push(event);
      continue;
    }
    next ??= Number(event.index);
    if (event.type === 'content_block_start') {
      const call = isCall(event.content_block) ? edit.calls[calls++] : undefined;
      places.set(event.index, call === null ? null : next++);
      if (call) {
        out.push({
          ...event,
          index: places.get(event.index),
          content_block: { ...record(event.content_block), id: call.id },
        });
        continue;
      }
    }
    const place = places.has(event.index) ? places.get(event.index) : Number(event.index);
    if (place !== null) out.push({ ...event, index: place });
  }
  return out;
}

function document(answer: Json, edit: Edit): Json {
  let calls = 0;
  const content = list(answer.content).flatMap((block) => {
    if (!isCall(block)) return [block];
    const call = edit.calls[calls++];
    return call ? [{ ...block, id: call.id }] : [];
  });
  if (edit.notice !== null) content.push({ type: 'text', text: edit.notice });
  return { ...answer, content, stop_reason: STOP_REASONS[edit.finish] };
}

export const messagesEditor: Editor = {
  named: true,
  holdsFrom: (event) =>
    event.type === 'message_delta' ||
    event.type === 'message_stop' ||
    (event.type === 'content_block_start' && isCall(event.content_block)),
  stream,
  document,
  tail: (held) =>
    held.some(({ data }) => data?.includes('"message_stop"'))
      ? ''
      : 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
};
