/** Reads the body of an upstream answer: events as they come, or a document. */
import type { Readable } from 'node:stream';
import { HttpError } from '../http-error.js';
import { type SseEvent, SseReader } from './sse-reader.js';

/** Larger than any answer of a model. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Servers that keep the connection open after the last event have this long to say more. */
const AFTER_LAST_MS = 250;

export const tooLong = (): HttpError => new HttpError(502, 'UPSTREAM', 'The upstream server sent more than 64 MB.');

/** Throws 502 over the limit. */
export async function readDocument(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/**
 * Gives every event to `take`, and waits where it says so. After the last event neither a connection that stays open nor one that breaks
 * matters. Errors of the connection pass through.
 */
export async function readEvents(
  body: Readable,
  isLast: (data: string) => boolean,
  take: (event: SseEvent) => Promise<void> | undefined,
): Promise<void> {
  const reader = new SseReader();
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let ended = false;
  for (;;) {
    const chunk: IteratorResult<Buffer> | null = ended ? await soon(chunks.next()) : await chunks.next();
    if (chunk === null) {
      body.once('error', () => undefined).destroy();
      return;
    }
    if (chunk.done) break;
    for (const event of reader.push(chunk.value)) {
      await take(event);
      ended ||= event.data !== null && isLast(event.data);
    }
  }
  for (const event of reader.end()) await take(event);
}

/** null: nothing came in time, or the connection broke. */
function soon<T>(next: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), AFTER_LAST_MS);
  });
  return Promise.race([next.catch(() => null), late]).finally(() => clearTimeout(timer));
}
