/**
 * Reads the bodies of requests. A conversation is sent again with every turn: its messages that came before, byte for byte, are not
 * parsed again, and are the very same objects as before, so that others can remember what they found out about them. Nobody may change
 * them.
 */
import { randomUUID } from 'node:crypto';
import { checkDepth, parseJsonBody } from '../body.js';
import type { RawBody } from '../dialects/parse.js';
import { arrayMember, objectElements } from './json-elements.js';

/** Conversations that are remembered, and bytes of theirs: what was used least recently goes first. */
const MAX_REMEMBERED = 64;
const MAX_BYTES = 32 * 1024 * 1024;

interface Remembered {
  /** Up to the end of the last message. */
  bytes: Buffer;
  /** The first byte of the list. */
  begin: number;
  /** One past the last byte of each message. */
  ends: number[];
  messages: unknown[];
}

/** Stands in the place of the list while the rest is parsed. */
const PLACE = randomUUID();

export class BodyReader {
  /** The most recently used last. */
  #remembered: Remembered[] = [];

  /** What `parseJsonBody` returns and throws. `list`: the member that holds the conversation. */
  read(bytes: Buffer, list: 'messages' | 'input'): RawBody {
    const [known, count] = this.#longest(bytes);
    const begin = known?.begin ?? arrayMember(bytes, list);
    const ends = known?.ends.slice(0, count) ?? [];
    const from = ends.at(-1) ?? begin;
    const close = from === null ? null : objectElements(bytes, from, ends);
    if (begin === null || from === null || close === null) return parseJsonBody(bytes);

    const fresh = parseList(bytes.toString('utf8', from, close), count > 0);
    const body = parseJsonBody(
      Buffer.concat([bytes.subarray(0, begin), Buffer.from(`"${PLACE}"`), bytes.subarray(close)]),
    );
    const place = body[list];
    // Another member of the same name further on counts instead.
    const isThis = Array.isArray(place) && place.length === 1 && place[0] === PLACE;
    if (!isThis || fresh?.length !== ends.length - count) return parseJsonBody(bytes);
    checkDepth({ [list]: fresh });
    const messages = known ? [...known.messages.slice(0, count), ...fresh] : fresh;
    body[list] = messages;
    this.#remember({ bytes: bytes.subarray(0, ends.at(-1) ?? begin), begin, ends, messages }, known);
    return body;
  }

  /** The remembered conversation that shares the most messages with `bytes`, and how many. */
  #longest(bytes: Buffer): [Remembered | null, number] {
    let best: [Remembered | null, number] = [null, 0];
    for (const each of this.#remembered.toReversed()) {
      const count = sharedMessages(each, bytes);
      if (count > best[1]) best = [each, count];
      if (count > 0 && count === each.ends.length) break;
    }
    return best;
  }

  #remember(one: Remembered, known: Remembered | null): void {
    const goesOn = known !== null && sharedMessages(known, one.bytes) === known.ends.length;
    this.#remembered = this.#remembered.filter((each) => each !== known || !goesOn);
    this.#remembered.push(one);
    let bytes = 0;
    const kept = this.#remembered.findLastIndex((each, at, all) => {
      bytes += each.bytes.buffer.byteLength;
      return bytes > MAX_BYTES || all.length - at > MAX_REMEMBERED;
    });
    this.#remembered.splice(0, kept + 1);
  }
}

/** null: no JSON. `goesOn`: it begins with the comma after what came before. */
function parseList(text: string, goesOn: boolean): unknown[] | null {
  try {
    return JSON.parse(`[${goesOn ? text.replace(/^\s*,/, '') : text}]`) as unknown[];
  } catch {
    return null;
  }
}

/** How many messages of `known` `bytes` begins with. */
function sharedMessages(known: Remembered, bytes: Buffer): number {
  const shares = (end: number): boolean => end <= bytes.length && known.bytes.compare(bytes, 0, end, 0, end) === 0;
  if (known.ends.length === 0 || !shares(known.ends[0]!)) return 0;
  if (shares(known.ends.at(-1)!)) return known.ends.length;
  let [low, high] = [1, known.ends.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (shares(known.ends[middle - 1]!)) low = middle;
    else high = middle;
  }
  return low;
}
