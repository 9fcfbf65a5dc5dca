/**
 * OpenAI Responses: the items of calls go, those that are left come anew from what the guard has judged, a message tells of the rest, and
 * events are numbered without a gap.
 */

import { isCallItem } from '../dialects/responses-collector.js';
import type { SampledCall } from '../services.js';
import { type Edit, type Editor, eventWith, type Json, list, record, word } from './edit.js';

const ENDS = /^response\.(?:completed|incomplete|failed)$/;
/** What may go on before the verdict: words, and the life of the answer and of items that are none of ours to judge. */
const PASSES =
  /^(?:response\.(?:created|in_progress|queued|content_part\.\w+|output_text\.[\w.]+|refusal\.\w+|reasoning[\w.]*|(?:web_search|file_search|code_interpreter|image_generation|mcp)\w*\.[\w.]+)|ping|keepalive)$/;
const WORDS = new Set(['message', 'reasoning']);

const isCall = (item: unknown): boolean => isCallItem(record(item).type);

const messageItem = (id: string, text: string): Json => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

function* messageEvents(index: number, item: Json, text: string): Generator<Json> {
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

function* callEvents(index: number, item: Json): Generator<Json> {
  const place = { item_id: item.id, output_index: index };
  yield {
    type: 'response.output_item.added',
    output_index: index,
    item: { ...item, status: 'in_progress', arguments: '' },
  };
  yield { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments };
  yield { type: 'response.function_call_arguments.done', ...place, name: item.name, arguments: item.arguments };
  yield { type: 'response.output_item.done', output_index: index, item };
}

const callItem = (answer: Json, call: SampledCall, at: number): Json => ({
  id: `fc_${baseOf(answer)}_${at}`,
  type: 'function_call',
  status: 'completed',
  call_id: call.id,
  name: call.name,
  arguments: call.arguments,
});
const baseOf = (answer: Json): string => word(answer.id ?? 'answer').replace(/^resp_/, '');

/** The calls that are left, and the notice. */
function ourItems(answer: Json, edit: Edit): Json[] {
  const calls = edit.calls.flatMap((call, at) => (call === null ? [] : [callItem(answer, call, at)]));
  return edit.notice === null ? calls : [...calls, messageItem(`msg_${baseOf(answer)}_notice`, edit.notice)];
}

const document = (answer: Json, edit: Edit): Json => ({
  ...answer,
  output: [...list(answer.output).filter((item) => !isCall(item)), ...ourItems(answer, edit)],
});

function stream(held: readonly Json[], edit: Edit): Json[] {
  const calls = new Set<unknown>();
  for (const event of held) if (isCall(event.item)) calls.add(event.output_index);
  const out: Json[] = [];
  let next = held.reduce(
    (least, event) => Math.min(least, typeof event.output_index === 'number' ? event.output_index : least),
    Number.POSITIVE_INFINITY,
  );
  if (!Number.isFinite(next)) next = 0;
  const places = new Map<unknown, number>();
  for (const event of held) {
    const type = word(event.type);
    if (ENDS.test(type)) {
      const answer = record(event.response);
      const kept = list(answer.output).filter((item) => !isCall(item));
      next = Math.max(next, kept.length);
      const ours = ourItems(answer, edit);
      for (const item of ours) {
        if (isCall(item)) out.push(...callEvents(next++, item));
        else out.push(...messageEvents(next++, item, edit.notice!));
      }
      out.push({ ...event, response: { ...answer, output: [...kept, ...ours] } });
      continue;
    }
    const ofCall =
      isCall(event.item) ||
      type.startsWith('response.function_call_arguments') ||
      (event.output_index !== undefined && calls.has(event.output_index));
    // What no client knows could be read as something that nobody judged.
    if (ofCall || !(PASSES.test(type) || type.startsWith('response.output_item.') || type === 'error')) continue;
    if (typeof event.output_index !== 'number') {
      out.push(event);
      continue;
    }
    if (type === 'response.output_item.added') places.set(event.output_index, next++);
    out.push({ ...event, output_index: places.get(event.output_index) ?? event.output_index });
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
  holdsFrom(event) {
    const type = word(event.type);
    if (type === 'response.output_item.added' || type === 'response.output_item.done')
      return !WORDS.has(word(record(event.item).type));
    return !PASSES.test(type);
  },
  isLast: (data) =>
    ENDS.test(word(eventWith(data, 'response.completed', 'response.incomplete', 'response.failed')?.type)),
  stream,
  document,
  // The last event is the one that says that the answer is whole.
  tail: () => '',
};
