/**
 * An Anthropic Messages request as the Chat Completions request that asks the same. What only Anthropic knows and does not
 * change the conversation (cache marks, signatures of thinking) is left out: it would make every turn a new conversation.
 */
import { z } from 'zod';
import { word } from '../relay/edit.js';
import { parseWith, type RawBody, textOf } from './parse.js';

const Block = z.looseObject({ type: z.string() });
const Content = z.union([z.string(), z.array(Block)]);
const Tool = z.looseObject({
  type: z.string().nullish(),
  name: z.string().min(1),
  description: z.string().nullish(),
  input_schema: z.unknown().optional(),
  strict: z.boolean().nullish(),
});
const Body = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.number().int().positive(),
  system: Content.nullish(),
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: Content })).min(1),
  tools: z.array(Tool).nullish(),
  tool_choice: z
    .looseObject({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().optional(),
    })
    .nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().int().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
});
type Block = z.infer<typeof Block>;

/** Throws 400 with the first field that is wrong. */
export function chatFromMessages(raw: RawBody): RawBody {
  const body = parseWith(Body, raw);
  const messages: RawBody[] = [];
  if (body.system != null) messages.push({ role: 'system', content: textOf(body.system) });
  for (const { role, content } of body.messages)
    messages.push(...(role === 'assistant' ? assistant(content) : user(role, content)));
  const choice = body.tool_choice;
  return {
    model: body.model,
    messages,
    ...(body.tools && body.tools.length > 0 && { tools: body.tools.map(toolFrom) }),
    ...(choice && { tool_choice: choiceFrom(choice.type, choice.name) }),
    ...(choice?.disable_parallel_tool_use && { parallel_tool_calls: false }),
    stream: body.stream ?? false,
    ...(body.stream && { stream_options: { include_usage: true } }),
    max_tokens: body.max_tokens,
    ...given('temperature', body.temperature),
    ...given('top_p', body.top_p),
    ...given('top_k', body.top_k),
    ...given('stop', body.stop_sequences),
  };
}

const given = (name: string, value: unknown): RawBody =>
  value === undefined || value === null ? {} : { [name]: value };

const choiceFrom = (type: string, name: string | undefined): unknown =>
  type === 'any' ? 'required' : type === 'tool' ? { type: 'function', function: { name: name ?? '' } } : type;

function toolFrom(tool: z.infer<typeof Tool>): RawBody {
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...given('description', tool.description),
      parameters: tool.input_schema ?? { type: 'object' },
      ...given('strict', tool.strict),
    },
  };
}

/** Results come first: in a chat they follow the calls at once. */
function user(role: string, content: z.infer<typeof Content>): RawBody[] {
  if (typeof content === 'string') return [{ role, content }];
  const results = content.filter((block) => block.type === 'tool_result').map(resultFrom);
  const rest = content.filter((block) => block.type !== 'tool_result');
  return rest.length > 0 || results.length === 0 ? [...results, { role, content: rest.map(partFrom) }] : results;
}

function resultFrom(block: Block): RawBody {
  const content = Content.safeParse(block.content ?? '');
  return {
    role: 'tool',
    tool_call_id: word(block.tool_use_id),
    content: content.success ? textOf(content.data) : '',
  };
}

function partFrom(block: Block): RawBody {
  if (block.type === 'text') return { type: 'text', text: word(block.text) };
  const image = z.looseObject({ source: z.looseObject({ type: z.string() }) }).safeParse(block);
  if (block.type !== 'image' || !image.success) return { type: block.type };
  const { source } = image.data;
  const url = source.type === 'url' ? word(source.url) : `data:${word(source.media_type)};base64,${word(source.data)}`;
  return { type: 'image_url', image_url: { url } };
}

function assistant(content: z.infer<typeof Content>): RawBody[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const thinking = content.flatMap((block) => (block.type === 'thinking' ? [word(block.thinking)] : [])).join('');
  const text = content.flatMap((block) => (block.type === 'text' ? [word(block.text)] : [])).join('');
  const calls = content.filter((block) => block.type === 'tool_use');
  return [
    {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(thinking !== '' && { reasoning_content: thinking }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, input }) => ({
          id: word(id),
          type: 'function',
          function: { name: word(name), arguments: JSON.stringify(input ?? {}) },
        })),
      }),
    },
  ];
}
