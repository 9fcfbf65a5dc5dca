/** A scripted answer in OpenAI's Responses API. */
import { argumentsText, cut, type Event, type Frame, finishOf, pieces, type Said } from './reply.js';

type Item = Record<string, unknown> & { id: string; type: string };

function items(said: Said, { n }: Frame): Item[] {
  const out: Item[] = [];
  if (said.reasoning !== undefined)
    out.push({ id: `rs_${n}`, type: 'reasoning', summary: [{ type: 'summary_text', text: said.reasoning }] });
  if (said.text !== undefined) {
    const content = [{ type: 'output_text', text: said.text, annotations: [] }];
    out.push({ id: `msg_${n}`, type: 'message', status: 'completed', role: 'assistant', content });
  }
  said.calls?.forEach((call, at) => {
    const named = { id: `fc_${n}_${at}`, type: 'function_call', status: 'completed' };
    out.push({
      ...named,
      ...(call.id !== undefined && { call_id: call.id }),
      name: call.name,
      arguments: argumentsText(call),
    });
  });
  return out;
}

function answer(said: Said, frame: Frame, status: string, output: readonly Item[]): Record<string, unknown> {
  const input = (said.promptTokens ?? 1000) + frame.n;
  return {
    id: `resp_${frame.n}`,
    object: 'response',
    created_at: 1_700_000_000 + frame.n,
    status,
    model: said.model ?? frame.model,
    output,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    metadata: {},
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: 20 + frame.n,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + 20 + frame.n,
          },
  };
}

/** The events between an item's beginning and its end, and the item as it begins. */
function parts(item: Item, index: number): { begins: Item; events: Record<string, unknown>[] } {
  const place = { item_id: item.id, output_index: index };
  if (item.type === 'function_call') {
    const text = String(item.arguments);
    const deltas = cut(text).map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta }));
    const done = { type: 'response.function_call_arguments.done', ...place, arguments: text };
    return { begins: { ...item, status: 'in_progress', arguments: '' }, events: [...deltas, done] };
  }
  const isText = item.type === 'message';
  const [part] = (isText ? item.content : item.summary) as { text: string }[];
  const kind = isText ? 'content_part' : 'reasoning_summary_part';
  const words = isText ? 'output_text' : 'reasoning_summary_text';
  const inside = { ...place, [isText ? 'content_index' : 'summary_index']: 0 };
  return {
    begins: isText ? { ...item, status: 'in_progress', content: [] } : { ...item, summary: [] },
    events: [
      { type: `response.${kind}.added`, ...inside, part: { ...part, text: '' } },
      ...pieces(part!.text).map((delta) => ({ type: `response.${words}.delta`, ...inside, delta })),
      { type: `response.${words}.done`, ...inside, text: part!.text },
      { type: `response.${kind}.done`, ...inside, part },
    ],
  };
}

export function responsesEvents(said: Said, frame: Frame): Event[] {
  const events: Event[] = [];
  const add = (data: Record<string, unknown>): void =>
    void events.push({ name: String(data.type), data: { ...data, sequence_number: events.length } });
  add({ type: 'response.created', response: answer(said, frame, 'in_progress', []) });
  add({ type: 'response.in_progress', response: answer(said, frame, 'in_progress', []) });
  const output = items(said, frame);
  output.forEach((item, index) => {
    const { begins, events: inner } = parts(item, index);
    add({ type: 'response.output_item.added', output_index: index, item: begins });
    inner.forEach(add);
    add({ type: 'response.output_item.done', output_index: index, item });
  });
  const finish = finishOf(said);
  if (finish === null) return events;
  const status = finish === 'length' ? 'incomplete' : 'completed';
  add({ type: `response.${status}`, response: answer(said, frame, status, output) });
  return events;
}

export const responsesDocument = (said: Said, frame: Frame): unknown =>
  answer(said, frame, finishOf(said) === 'length' ? 'incomplete' : 'completed', items(said, frame));
