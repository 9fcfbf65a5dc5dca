/** A scripted answer in Anthropic's Messages API. */
import { argumentsText, cut, type Event, type Frame, finishOf, pieces, type Said } from './reply.js';

const STOP_REASONS: Record<string, string> = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' };

const stopReason = (said: Said): string | null => {
  const finish = finishOf(said);
  return finish === null ? null : (STOP_REASONS[finish] ?? finish);
};
const usageOf = (said: Said, { n }: Frame): Record<string, number> => ({
  input_tokens: (said.promptTokens ?? 1000) + n,
  output_tokens: 20 + n,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});
const message = (said: Said, frame: Frame, content: unknown[]): Record<string, unknown> => ({
  id: `msg_${frame.n}`,
  type: 'message',
  role: 'assistant',
  model: said.model ?? frame.model,
  content,
  stop_reason: null,
  stop_sequence: null,
  usage: usageOf(said, frame),
});

export function messagesEvents(said: Said, frame: Frame): Event[] {
  const events: Event[] = [];
  const add = (data: Record<string, unknown> & { type: string }): void => void events.push({ name: data.type, data });
  let index = 0;
  const block = (start: Record<string, unknown>, deltas: Record<string, unknown>[]): void => {
    add({ type: 'content_block_start', index, content_block: start });
    for (const delta of deltas) add({ type: 'content_block_delta', index, delta });
    add({ type: 'content_block_stop', index: index++ });
  };
  add({ type: 'message_start', message: message(said, frame, []) });
  if (said.reasoning !== undefined)
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...pieces(said.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ]);
  if (said.text !== undefined)
    block(
      { type: 'text', text: '' },
      pieces(said.text).map((text) => ({ type: 'text_delta', text })),
    );
  for (const call of said.calls ?? [])
    block(
      { type: 'tool_use', ...(call.id !== undefined && { id: call.id }), name: call.name, input: {} },
      cut(argumentsText(call)).map((json) => ({ type: 'input_json_delta', partial_json: json })),
    );
  const reason = stopReason(said);
  if (reason === null) return events;
  add({
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 20 + frame.n },
  });
  add({ type: 'message_stop' });
  return events;
}

export function messagesDocument(said: Said, frame: Frame): unknown {
  const content = [
    ...(said.text === undefined ? [] : [{ type: 'text', text: said.text }]),
    ...(said.calls ?? []).map((call) => ({
      type: 'tool_use',
      id: call.id,
      name: call.name,
      input: JSON.parse(argumentsText(call)) as unknown,
    })),
  ];
  return { ...message(said, frame, content), stop_reason: stopReason(said) };
}
