/** What an upstream server has answered so far, whichever dialect it speaks. */
import type { Reasoning } from '../answer.js';
import { isDeep } from '../body.js';
import { HttpError } from '../http-error.js';
import { parseShared, record } from '../relay/edit.js';
import { tooLong } from '../relay/receive.js';
import type { SampledCall } from '../services.js';

const MAX_RESPONSE_ID = 200;
/** Words of one answer, in UTF-16 units: more than any model says, and little enough to keep and to record. */
export const MAX_WORDS = 64 * 1024 * 1024;

export interface UpstreamSink {
  text(text: string): void;
  reasoning(part: Reasoning): void;
}

/** Gathers the pieces of an answer. Tool calls are kept back until the guard has seen them; words go to the sink at once. */
export abstract class Collector {
  content = '';
  reasoning: Reasoning | null = null;
  /** In the words of Chat Completions; null: the answer has not ended. */
  finish: string | null = null;
  /** The calls came in a form that clients refuse, or read in more than one way: they are written anew from what was judged. */
  irregular = false;
  #words = 0;
  /** `[DONE]` came. */
  #over = false;
  promptTokens = 0;
  completionTokens = 0;
  cachedTokens = 0;
  /** The server's id of the answer. */
  responseId: string | null = null;

  constructor(private readonly sink: UpstreamSink) {}

  /**
   * Takes an event. Clients stop at `[DONE]`, and some read only what the name of the event announces: where calls would be read in more
   * than one way they are irregular. Throws as `push` does.
   */
  event(data: string, name: string | null): void {
    if (data === '[DONE]') this.#over = true;
    else {
      this.push(data);
      this.irregular ||= this.#over || this.isMisnamed(name || null, record(parseShared(data)).type);
    }
  }

  /** `type`: what the data of the event says that it is. */
  protected isMisnamed(name: string | null, type: unknown): boolean {
    return name !== null && name !== type;
  }

  /** Takes the data of an event. Throws 502 for what is none, for an error event, and for a call that cannot be checked. */
  abstract push(json: string): void;

  /** Takes a whole answer. Throws likewise. */
  abstract document(json: string): void;

  abstract get toolCalls(): SampledCall[];

  /** What is gathered of words and arguments has a limit. Throws 502. */
  protected count(text: string): void {
    this.#words += text.length;
    if (this.#words > MAX_WORDS) throw tooLong();
  }

  /** The first that comes; ids that are none (too long, empty) are left out. */
  protected named(id: unknown): void {
    if (typeof id === 'string' && id !== '' && id.length <= MAX_RESPONSE_ID) this.responseId ??= id;
  }

  protected say(text: string | null | undefined): void {
    if (!text) return;
    this.count(text);
    this.content += text;
    this.sink.text(text);
  }

  /** `field`: the name it came under, and is replayed under. */
  protected think(text: string | null | undefined, field: Reasoning['field'] = 'reasoning_content'): void {
    if (!text) return;
    this.count(text);
    this.reasoning = { field, text: (this.reasoning?.text ?? '') + text };
    this.sink.reasoning({ field, text });
  }
}

export const notAnAnswer = (): HttpError =>
  new HttpError(502, 'UPSTREAM', 'The upstream server sent something that is not an answer of the model.');

/** A call in a form that the guard does not know would reach the harness unseen. */
export const uncheckable = (what: string): HttpError =>
  new HttpError(
    502,
    'UPSTREAM',
    `The upstream server sent ${what.replace(/[^\w. -]/g, '?').slice(0, 60)}, which cannot be checked.`,
  );

export const upstreamError = (message: string | undefined): HttpError =>
  new HttpError(502, 'UPSTREAM', `The upstream server returned an error: ${message ?? 'no message'}`);

/** Throws 502. */
export function parseEvent<T>(schema: { parse(value: unknown): T }, json: string): T {
  try {
    const value = parseShared(json);
    // What cannot be written again must not be passed on.
    if (!isDeep(json, value)) return schema.parse(value);
  } catch {}
  throw notAnAnswer();
}
