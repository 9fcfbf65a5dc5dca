/** Helpers of the request readers. */
import type { z } from 'zod';
import { HttpError } from '../http-error.js';

export type RawBody = Record<string, unknown>;

/** Throws 400 with the first field that is wrong. `place`: where `raw` lies in the body. */
export function parseWith<T>(schema: z.ZodType<T>, raw: unknown, place = ''): T {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new HttpError(
    400,
    'BAD_ARGUMENT',
    `The request is not valid at ${[...(place ? [place] : []), ...issue.path].join('.') || 'its top'}: ${issue.message}.`,
  );
}

/** The text of a content field: a string, or parts of which those with text count. */
export function textOf(content: string | readonly { type: string; text?: unknown }[]): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n');
}
