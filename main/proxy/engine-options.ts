/** What a Chat Completions request asks of the engine beyond messages and sampling: stop strings and answers in JSON. */
import { z } from 'zod';
import type { ChatParams } from '../engine/protocol.js';
import type { ChatRequest } from './chat-request.js';
import { HttpError } from './http-error.js';

const Options = z.looseObject({
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('json_object') }),
      z.looseObject({ type: z.literal('json_schema'), json_schema: z.looseObject({ schema: z.unknown() }) }),
    ])
    .nullish(),
});
const StrictTool = z.looseObject({ function: z.looseObject({ name: z.string(), strict: z.literal(true) }) });

/** Throws 400 for a response format that is none. */
export function engineOptions(
  chat: Pick<ChatRequest, 'raw' | 'tools'>,
): Pick<ChatParams, 'stop' | 'constrain' | 'strictTools' | 'jsonSchema'> {
  const parsed = Options.safeParse(chat.raw);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new HttpError(400, 'BAD_ARGUMENT', `The request is not valid at ${issue.path.join('.')}: ${issue.message}.`);
  }
  const { stop, response_format: format } = parsed.data;
  const stops = typeof stop === 'string' ? [stop] : (stop ?? []);
  const strictTools = chat.tools.flatMap((tool) => {
    const strict = StrictTool.safeParse(tool);
    return strict.success ? [strict.data.function.name] : [];
  });
  return {
    ...(stops.length > 0 && { stop: stops }),
    ...(strictTools.length > 0 && { constrain: 'tools' as const, strictTools }),
    ...(format?.type === 'json_object' && { jsonSchema: { type: 'object' } }),
    ...(format?.type === 'json_schema' && { jsonSchema: format.json_schema.schema ?? {} }),
  };
}
