/**
 * Cuts a stream of server-sent events into events and keeps the bytes of each, so that what is not changed can go on as it came
 * (WHATWG HTML, section 9.2.6: lines end with LF, CRLF or CR, an event with an empty line).
 */
import { HttpError } from '../http-error.js';

export interface SseEvent {
  /** With the empty line that ends it. */
  raw: Buffer;
  /** null: a comment, or fields without data. */
  data: string | null;
}

/** Larger than any answer of a model; an event that never ends must not fill the memory. */
export const MAX_EVENT_BYTES = 64 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

export class SseReader {
  /** Of the event that has not ended. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The present line has something in it. */
  #inLine = false;
  /** A CR came last: whether it stands alone shows with the next byte. */
  #return = false;
  #begin = true;

  /** Throws 502 for an event over the limit. */
  push(bytes: Buffer): SseEvent[] {
    const events: SseEvent[] = [];
    let from = 0;
    const cut = (end: number): void => {
      const last = bytes.subarray(from, end);
      events.push(this.#event(this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last])));
      this.#pieces = [];
      this.#bytes = 0;
      from = end;
    };
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (this.#return) {
        this.#return = false;
        const ends = this.#endLine();
        if (ends) cut(byte === LF ? at + 1 : at);
        if (byte === LF) continue;
      }
      if (byte === CR) this.#return = true;
      else if (byte !== LF) this.#inLine = true;
      else if (this.#endLine()) cut(at + 1);
    }
    const rest = bytes.subarray(from);
    if (rest.length > 0) this.#pieces.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes > MAX_EVENT_BYTES)
      throw new HttpError(502, 'UPSTREAM', 'The upstream server sent an event larger than 64 MB.');
    return events;
  }

  /** What came after the last empty line: servers that forget it still meant an event. */
  end(): SseEvent[] {
    if (this.#pieces.length === 0) return [];
    const closing = this.#return && !this.#inLine ? '' : '\n\n';
    const event = this.#event(Buffer.concat([...this.#pieces, Buffer.from(closing)]));
    this.#pieces = [];
    return event.data === null ? [] : [event];
  }

  /** Whether the line that ends was empty, and the event with it. */
  #endLine(): boolean {
    const empty = !this.#inLine;
    this.#inLine = false;
    return empty;
  }

  #event(raw: Buffer): SseEvent {
    // Nearly all events are one line of data.
    if (raw.indexOf(LF) === raw.length - 2 && raw.toString('latin1', 0, 6) === 'data: ' && !raw.includes(CR)) {
      this.#begin = false;
      return { raw, data: raw.toString('utf8', 6, raw.length - 2) };
    }
    let text = raw.toString('utf8');
    if (this.#begin && text.startsWith('\ufeff')) text = text.slice(1);
    this.#begin = false;
    const data = text
      .split(/\r\n|\n|\r/)
      .flatMap((line) =>
        line === 'data' ? [''] : line.startsWith('data:') ? [line.slice(line[5] === ' ' ? 6 : 5)] : [],
      );
    return { raw, data: data.length > 0 ? data.join('\n') : null };
  }
}
