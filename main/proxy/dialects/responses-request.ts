/**
 * An OpenAI Responses request as the Chat Completions request that asks the same. The items of one turn of the model
 * (reasoning, text, calls) become one assistant message.
 */
import { z } from 'zod';
import { HttpError } from '../http-error.js';
import { word } from '../relay/edit.js';
import { parseWith, type RawBody, textOf } from './parse.js';

const Part = z.looseObject({ type: z.string() });
const Content = z.union([z.string(), z.array(Part)]);
const Item = z.looseObject({ type: z.string().nullish(), role: z.string().nullish() });
const Tool = z.looseObject({ type: z.string() });
const Body = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(Item).min(1)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.unknown().optional(),
  background: z.boolean().nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  prompt_cache_key: z.string().nullish(),
});
type Item = z.infer<typeof Item>;

/** Throws 400 with the first field that is wrong, and for state that only the server that made it has. */
export function chatFromResponses(raw: RawBody): RawBody {
  const body = parseWith(Body, raw);
  for (const field of ['previous_response_id', 'conversation', 'background'] as const)
    if (body[field])
      throw new HttpError(
        400,
        'UNSUPPORTED',
        `\`${field}\` needs a server that keeps answers: send the whole input instead.`,
      );
  const messages: RawBody[] = [];
  if (body.instructions) messages.push({ role: 'system', content: body.instructions });
  if (typeof body.input === 'string') messages.push({ role: 'user', content: body.input });
  else {
    const turns = new Turns(messages);
    for (const item of body.input) turns.add(item);
  }
  const format = body.text?.format;
  const tools = (body.tools ?? []).map(toolFrom);
  return {
    model: body.model,
    messages,
    ...(tools.length > 0 && { tools }),
    ...(body.tool_choice != null && { tool_choice: choiceFrom(body.tool_choice) }),
    ...given('parallel_tool_calls', body.parallel_tool_calls),
    stream: body.stream ?? false,
    ...(body.stream && { stream_options: { include_usage: true } }),
    ...given('temperature', body.temperature),
    ...given('top_p', body.top_p),
    ...given('max_tokens', body.max_output_tokens),
    ...given('prompt_cache_key', body.prompt_cache_key),
    ...(format && format.type !== 'text' && { response_format: formatFrom(format) }),
  };
}

const given = (name: string, value: unknown): RawBody =>
  value === undefined || value === null ? {} : { [name]: value };

function toolFrom(tool: z.infer<typeof Tool>): RawBody {
  // Tools that the server itself runs (web search, …) stay as they are: whoever cannot run them says so.
  if (tool.type !== 'function') return tool;
  const { type: _type, ...definition } = tool;
  return { type: 'function', function: definition };
}

function choiceFrom(choice: unknown): unknown {
  const named = z.looseObject({ type: z.literal('function'), name: z.string() }).safeParse(choice);
  return named.success ? { type: 'function', function: { name: named.data.name } } : choice;
}

function formatFrom({ type, ...rest }: { type: string; [member: string]: unknown }): RawBody {
  return type === 'json_schema' ? { type, json_schema: rest } : { type };
}

const ItemText = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
  .catch('');

interface Turn extends RawBody {
  role: 'assistant';
  content: string | null;
  reasoning_content?: string;
  tool_calls?: RawBody[];
}

/** Gathers the items of one turn of the model. */
class Turns {
  #turn: Turn | null = null;
  constructor(private readonly messages: RawBody[]) {}

  add(item: Item): void {
    const type = item.type ?? 'message';
    if (type === 'function_call') this.#call(item);
    else if (type === 'reasoning') this.#think(textOf(ItemText.parse(item.content ?? item.summary ?? '')));
    else if (type === 'message' && item.role === 'assistant') this.#say(textOf(ItemText.parse(item.content)));
    else {
      this.#turn = null;
      const message = messageFrom(type, item);
      if (message) this.messages.push(message);
    }
  }

  get #open(): Turn {
    if (this.#turn === null) {
      this.#turn = { role: 'assistant', content: null };
      this.messages.push(this.#turn);
    }
    return this.#turn;
  }

  #call(item: Item): void {
    const turn = this.#open;
    turn.tool_calls ??= [];
    turn.tool_calls.push({
      id: word(item.call_id),
      type: 'function',
      function: { name: word(item.name), arguments: word(item.arguments) },
    });
  }

  /** A new thought begins a new turn when the last one has come to calls or text. */
  #think(text: string): void {
    if (this.#turn !== null && (this.#turn.tool_calls !== undefined || this.#turn.content !== null)) this.#turn = null;
    if (text !== '') this.#open.reasoning_content = text;
  }

  #say(text: string): void {
    const turn = this.#open;
    turn.content = `${turn.content ?? ''}${text}`;
  }
}

/** null: an item without words for the model (a reference to one that a server keeps). */
function messageFrom(type: string, item: Item): RawBody | null {
  if (type === 'function_call_output')
    return { role: 'tool', tool_call_id: word(item.call_id), content: textOf(ItemText.parse(item.output)) };
  if (type !== 'message') return null;
  const content = parseWith(Content, item.content);
  return { role: item.role ?? 'user', content: typeof content === 'string' ? content : content.map(partFrom) };
}

function partFrom(part: z.infer<typeof Part>): RawBody {
  if (part.type === 'input_text' || part.type === 'output_text' || part.type === 'text')
    return { type: 'text', text: word(part.text) };
  if (part.type === 'input_image' && typeof part.image_url === 'string')
    return { type: 'image_url', image_url: { url: part.image_url } };
  return { type: part.type };
}
