/** Reads a JSON body within limits. */
import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.js';

export const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Deeper JSON than any tool schema; keeps recursive code safe. */
const MAX_DEPTH = 128;

/** Throws 413 over the limit, 400 for a body that is compressed. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new HttpError(400, 'UNSUPPORTED', 'Send the body without compression.');
  return readBytes(request);
}

/** Throws 400 for anything that is not one JSON object, or that is nested too deeply. */
export function parseJsonBody(bytes: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new HttpError(400, 'BAD_ARGUMENT', 'The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError(400, 'BAD_ARGUMENT', 'The body must be a JSON object.');
  checkDepth(value);
  return value as Record<string, unknown>;
}

/** What is over the limit is read and dropped up to this, so that the client gets to read the answer. */
const MAX_DRAIN_BYTES = 4 * MAX_BODY_BYTES;

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (bytes > MAX_DRAIN_BYTES) break;
  }
  if (bytes > MAX_BODY_BYTES)
    throw new HttpError(413, 'BAD_ARGUMENT', `The body is larger than ${MAX_BODY_BYTES / 1024 / 1024} MB.`);
  return Buffer.concat(chunks, bytes);
}

function checkDepth(root: object): void {
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH)
      throw new HttpError(400, 'BAD_ARGUMENT', `The JSON is nested deeper than ${MAX_DEPTH} levels.`);
    const next: object[] = [];
    for (const item of level)
      for (const member of Object.values(item))
        if (typeof member === 'object' && member !== null) next.push(member as object);
    level = next;
  }
}
