/**
 * Cuts a stream of server-sent events into events and keeps the bytes of each, so that what is not changed can go on as it came
 * (WHATWG HTML, section 9.2.6: lines end with LF, CRLF or CR, an event with an empty line). Lines that are neither comments nor known
 * fields are left out: a lenient client could read one as data that nobody judged.
 */
import { HttpError } from '../http-error.js';

export interface SseEvent {
  /** With the empty line that ends it, without lines that mean nothing. */
  raw: Buffer;
  /** null: it has no name. */
  name: string | null;
  /** null: a comment, or fields without data. */
  data: string | null;
}

/** Larger than any answer of a model; an event that never ends must not fill the memory. */
export const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** A comment, a field that the standard names, or the empty line at the end. */
const KNOWN_LINE = /^(?::|[\r\n]|(?:data|event|id|retry)(?::|[\r\n]|$))/;
const BOM = '\u00ef\u00bb\u00bf';

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
      return { raw, name: null, data: raw.toString('utf8', 6, raw.length - 2) };
    }
    // Latin-1 keeps every byte apart.
    const text = raw.toString('latin1');
    const mark = this.#begin && text.startsWith(BOM) ? BOM : '';
    this.#begin = false;
    const lines = text.slice(mark.length).match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
    const kept = lines.filter((line) => KNOWN_LINE.test(line));
    const data = kept.flatMap((line) => fieldOf(line, 'data') ?? []);
    return {
      raw: kept.length === lines.length ? raw : Buffer.from(mark + kept.join(''), 'latin1'),
      name: kept.map((line) => fieldOf(line, 'event')).findLast((name) => name !== null) ?? null,
      data: data.length > 0 ? data.join('\n') : null,
    };
  }
}

/** null: it is another field. */
function fieldOf(line: string, field: string): string | null {
  const text = line.replace(/[\r\n]+$/, '');
  if (text === field) return '';
  if (!text.startsWith(`${field}:`)) return null;
  const value = text.slice(field.length + 1);
  return Buffer.from(value.startsWith(' ') ? value.slice(1) : value, 'latin1').toString('utf8');
}
