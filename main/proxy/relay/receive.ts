/** Reads the body of an upstream answer: events as they come, or a document. */
import type { Readable } from 'node:stream';
import { HttpError } from '../http-error.js';
import { type SseEvent, SseReader } from './sse-reader.js';

/** Larger than any answer of a model. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** The events of one answer on the wire: a million small pieces are 250 MB. */
export const MAX_STREAM_BYTES = 512 * 1024 * 1024;
/** Servers that keep the connection open after the last event have this long to say more. */
const AFTER_LAST_MS = 250;

export const tooLong = (limit = MAX_ANSWER_BYTES): HttpError =>
  new HttpError(502, 'UPSTREAM', `The upstream server sent more than ${limit / 1024 / 1024} MB.`);

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
 * Gives every event to `take`; while it asks to wait nothing more is read. After the last event neither a connection that stays open nor
 * one that breaks matters. Errors of the connection and of `take` pass through. Rejects with 502 over the limit.
 */
export function readEvents(
  body: Readable,
  isLast: (data: string) => boolean,
  take: (event: SseEvent) => Promise<void> | undefined,
): Promise<void> {
  const reader = new SseReader();
  let bytes = 0;
  let waiting: Promise<void> | undefined;
  let grace: NodeJS.Timeout | undefined;
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      clearTimeout(grace);
      body.off('data', read).once('error', () => undefined);
      body.destroy();
    };
    const settled = (): void => {
      giveUp();
      resolve();
    };
    const failed = (cause: unknown): void => {
      if (grace === undefined) {
        giveUp();
        reject(cause);
      } else settled();
    };
    const pass = (events: SseEvent[]): void => {
      for (const event of events) {
        waiting = take(event) ?? waiting;
        if (event.data !== null && isLast(event.data)) grace ??= setTimeout(settled, AFTER_LAST_MS);
      }
    };
    const guarded = (work: () => void): void => {
      try {
        work();
      } catch (cause) {
        giveUp();
        reject(cause);
      }
    };
    const read = (chunk: Buffer): void =>
      guarded(() => {
        bytes += chunk.length;
        if (bytes > MAX_STREAM_BYTES) throw tooLong(MAX_STREAM_BYTES);
        pass(reader.push(chunk));
        if (waiting === undefined) return;
        body.pause();
        void waiting.then(() => body.resume());
        waiting = undefined;
      });
    body.on('data', read);
    body.once('error', failed);
    body.once('close', () => failed(new Error('closed')));
    body.once('end', () =>
      guarded(() => {
        pass(reader.end());
        clearTimeout(grace);
        resolve();
      }),
    );
  });
}
