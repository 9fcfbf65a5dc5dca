/** OpenAI Responses: the item of a blocked call goes, a message comes, and items and events are numbered anew. */
import { type Edit, type Editor, type Json, list, record } from './edit.js';

const isCall = (item: unknown): boolean => record(item).type === 'function_call';
const ENDS = /^response\.(?:completed|incomplete|failed)$/;

const noticeItem = (id: string, text: string): Json => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

function* noticeEvents(index: number, item: Json, text: string): Generator<Json> {
  const place = { item_id: item.id, output_index: index, content_index: 0 };
  const [part] = list(item.content);
  yield {
    type: 'response.output_item.added',
    output_index: index,
    item: { ...item, status: 'in_progress', content: [] },
  };
  yield { type: 'response.content_part.added', ...place, part: { ...part, text: '' } };
  yield { type: 'response.output_text.delta', ...place, delta: text, logprobs: [] };
  yield { type: 'response.output_text.done', ...place, text, logprobs: [] };
  yield { type: 'response.content_part.done', ...place, part };
  yield { type: 'response.output_item.done', output_index: index, item };
}

/** The output of an answer without what is blocked, and the notice behind it. */
function outputOf(items: readonly Json[], edit: Edit, id: string): Json[] {
  let calls = 0;
  const left = items.flatMap((item) => {
    if (!isCall(item)) return [item];
    const call = edit.calls[calls++];
    return call ? [{ ...item, call_id: call.id }] : [];
  });
  return edit.notice === null ? left : [...left, noticeItem(id, edit.notice)];
}

const noticeId = (response: Json): string => `msg_${String(response.id ?? 'answer').replace(/^resp_/, '')}_notice`;

function response(answer: Json, edit: Edit): Json {
  return { ...answer, output: outputOf(list(answer.output), edit, noticeId(answer)) };
}

function stream(held: readonly Json[], edit: Edit): Json[] {
  const out: Json[] = [];
  const places = new Map<unknown, number | null>();
  let next: number | null = null;
  let calls = 0;
  const ids = new Map<unknown, string>();
  for (const event of held) {
    if (ENDS.test(String(event.type))) {
      const answer = response(record(event.response), edit);
      const items = list(answer.output);
      const at = edit.notice === null ? -1 : items.length - 1;
      if (at >= 0) out.push(...noticeEvents(at, items[at]!, edit.notice!));
      out.push({ ...event, response: answer });
      continue;
    }
    if (event.output_index === undefined) {
      out.push(event);
      continue;
    }
    next ??= Number(event.output_index);
    if (event.type === 'response.output_item.added') {
      const call = isCall(event.item) ? edit.calls[calls++] : undefined;
      places.set(event.output_index, call === null ? null : next++);
      if (call) ids.set(event.output_index, call.id);
    }
    const place = places.has(event.output_index) ? places.get(event.output_index) : Number(event.output_index);
    if (place === null) continue;
    const id = ids.get(event.output_index);
    const item = id !== undefined && isCall(event.item) ? { item: { ...record(event.item), call_id: id } } : {};
    out.push({ ...event, output_index: place, ...item });
  }
  return numbered(out, held);
}

/** Events count without a gap from where the passed ones ended. */
function numbered(events: readonly Json[], held: readonly Json[]): Json[] {
  const first = held.find((event) => typeof event.sequence_number === 'number')?.sequence_number;
  if (typeof first !== 'number') return [...events];
  return events.map((event, at) => ({ ...event, sequence_number: first + at }));
}

export const responsesEditor: Editor = {
  named: true,
  holdsFrom: (event) =>
    ENDS.test(String(event.type)) || (event.type === 'response.output_item.added' && isCall(event.item)),
  stream,
  document: response,
  // The last event is the one that says that the answer is whole.
  tail: () => '',
};
