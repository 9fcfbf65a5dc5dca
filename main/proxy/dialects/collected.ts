/** What an upstream server has answered so far, whichever dialect it speaks. */
import type { Reasoning } from '../answer.js';
import { isDeep } from '../body.js';
import { HttpError } from '../http-error.js';
import { parseShared } from '../relay/edit.js';
import type { SampledCall } from '../services.js';

const MAX_RESPONSE_ID = 200;

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
  /** The pieces of the calls came in a form that strict clients refuse. */
  irregular = false;
  promptTokens = 0;
  completionTokens = 0;
  cachedTokens = 0;
  /** The server's id of the answer. */
  responseId: string | null = null;

  constructor(private readonly sink: UpstreamSink) {}

  /** Takes the data of an event, or a whole answer. Throws 502 for what is neither, and for an error event. */
  abstract push(json: string): void;

  abstract get toolCalls(): SampledCall[];

  /** The first that comes; ids that are none (too long, empty) are left out. */
  protected named(id: unknown): void {
    if (typeof id === 'string' && id !== '' && id.length <= MAX_RESPONSE_ID) this.responseId ??= id;
  }

  protected say(text: string | null | undefined): void {
    if (!text) return;
    this.content += text;
    this.sink.text(text);
  }

  /** `field`: the name it came under, and is replayed under. */
  protected think(text: string | null | undefined, field: Reasoning['field'] = 'reasoning_content'): void {
    if (!text) return;
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
