/** Reads a chat completion stream the way the strictest client would: every deviation throws. */
import { z } from 'zod';

const Delta = z.strictObject({
  role: z.literal('assistant').optional(),
  content: z.string().optional(),
  reasoning_content: z.string().optional(),
  reasoning: z.string().optional(),
  tool_calls: z
    .array(
      z.strictObject({
        index: z.number().int().nonnegative(),
        id: z.string().min(1),
        type: z.literal('function'),
        function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
      }),
    )
    .min(1)
    .optional(),
});
const Chunk = z.strictObject({
  id: z.string().startsWith('chatcmpl-'),
  object: z.literal('chat.completion.chunk'),
  created: z.number().int().positive(),
  model: z.string(),
  choices: z
    .array(
      z.strictObject({
        index: z.literal(0),
        delta: Delta,
        finish_reason: z.enum(['stop', 'tool_calls', 'length', 'content_filter']).nullable(),
      }),
    )
    .max(1),
  usage: z
    .looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() })
    .optional(),
});

export interface StrictAnswer {
  id: string;
  model: string;
  text: string;
  reasoning: string;
  toolCalls: { id: string; name: string; arguments: string }[];
  finish: string;
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null;
  textDeltas: number;
  keepAlives: number;
}

/** The `data:` payloads of a stream and the number of comments; throws on any other line. */
export function sseEvents(body: string): { events: string[]; comments: number } {
  if (!body.endsWith('\n\n')) throw new Error(`the last event is not closed by an empty line: ${body.slice(-300)}`);
  const events: string[] = [];
  let comments = 0;
  for (const block of body.split('\n\n').slice(0, -1)) {
    if (block.startsWith(': ')) comments++;
    else if (/^data: [^\n]+$/.test(block)) events.push(block.slice(6));
    else throw new Error(`not an event: ${JSON.stringify(block)}`);
  }
  return { events, comments };
}

export function strictAnswer(body: string): StrictAnswer {
  const { events, comments } = sseEvents(body);
  if (events.pop() !== '[DONE]') throw new Error('the stream does not end with [DONE]');
  const chunks = events.map((event) => Chunk.parse(JSON.parse(event)));
  const answer: StrictAnswer = {
    id: chunks[0]!.id,
    model: chunks[0]!.model,
    text: '',
    reasoning: '',
    toolCalls: [],
    finish: '',
    usage: null,
    textDeltas: 0,
    keepAlives: comments,
  };
  chunks.forEach((chunk, at) => {
    if (chunk.id !== answer.id || chunk.model !== answer.model) throw new Error('id or model changes');
    if ((chunk.choices[0]?.delta.role !== undefined) !== (at === 0))
      throw new Error('the role belongs into the first chunk alone');
    if (answer.usage) throw new Error('something follows the usage chunk');
    if (chunk.choices.length === 0) {
      if (!chunk.usage || answer.finish === '') throw new Error('a chunk without a choice is not the usage chunk');
      answer.usage = chunk.usage;
      return;
    }
    if (answer.finish !== '') throw new Error('a delta follows the finish reason');
    const { delta, finish_reason } = chunk.choices[0]!;
    if (delta.content) answer.textDeltas++;
    answer.text += delta.content ?? '';
    answer.reasoning += delta.reasoning_content ?? delta.reasoning ?? '';
    for (const call of delta.tool_calls ?? []) {
      if (call.index !== answer.toolCalls.length) throw new Error('tool call indexes are not 0, 1, …');
      answer.toolCalls.push({ id: call.id, ...call.function });
    }
    answer.finish = finish_reason ?? '';
  });
  if (answer.finish === '') throw new Error('no finish reason');
  if ((answer.finish === 'tool_calls') !== answer.toolCalls.length > 0 && answer.finish !== 'length')
    throw new Error('the finish reason contradicts the calls');
  return answer;
}

const Passed = z.looseObject({
  id: z.string(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      delta: z
        .looseObject({
          content: z.string().nullish(),
          reasoning_content: z.string().nullish(),
          reasoning: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({
                index: z.number().optional(),
                id: z.string().nullish(),
                function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).optional(),
              }),
            )
            .nullish(),
        })
        .optional(),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: z
    .looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() })
    .nullish(),
});

/** Reads a stream that another server wrote, the way a lenient client does; it must still end as a whole answer does. */
export function passedAnswer(body: string): StrictAnswer {
  const { events, comments } = sseEvents(body);
  if (events.pop() !== '[DONE]') throw new Error('the stream does not end with [DONE]');
  const answer: StrictAnswer = {
    id: '',
    model: '',
    text: '',
    reasoning: '',
    toolCalls: [],
    finish: '',
    usage: null,
    textDeltas: 0,
    keepAlives: comments,
  };
  const slots = new Map<string, StrictAnswer['toolCalls'][number]>();
  for (const event of events) {
    const chunk = Passed.parse(JSON.parse(event));
    answer.id ||= chunk.id;
    answer.model ||= chunk.model;
    answer.usage = chunk.usage ?? answer.usage;
    const [choice] = chunk.choices;
    if (choice?.delta?.content) answer.textDeltas++;
    answer.text += choice?.delta?.content ?? '';
    answer.reasoning += choice?.delta?.reasoning_content ?? choice?.delta?.reasoning ?? '';
    for (const piece of choice?.delta?.tool_calls ?? []) {
      const slot = String(piece.index ?? piece.id);
      const call = slots.get(slot) ?? { id: '', name: '', arguments: '' };
      slots.set(slot, call);
      call.id ||= piece.id ?? '';
      call.name += piece.function?.name ?? '';
      call.arguments += piece.function?.arguments ?? '';
    }
    answer.finish = choice?.finish_reason ?? answer.finish;
  }
  answer.toolCalls = [...slots.values()];
  if (answer.finish === '') throw new Error('no finish reason');
  if (answer.toolCalls.some((call) => call.id === '' || call.name === '')) throw new Error('a call without id or name');
  if (answer.finish === 'tool_calls' && answer.toolCalls.length === 0) throw new Error('a harness would loop on this');
  return answer;
}
