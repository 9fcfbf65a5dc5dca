/** What an upstream server has answered so far, whichever dialect it speaks. */
import type { Reasoning } from '../answer.js';
import { HttpError } from '../http-error.js';
import type { SampledCall } from '../services.js';

export interface UpstreamSink {
  text(text: string): void;
  reasoning(part: Reasoning): void;
}

export interface Collector {
  /** Takes the data of an event, or a whole answer. Throws 502 for what is neither, and for an error event. */
  push(json: string): void;
  readonly content: string;
  readonly reasoning: Reasoning | null;
  readonly toolCalls: SampledCall[];
  /** The pieces of the calls came in a form that strict clients refuse. */
  readonly irregular: boolean;
  /** In the words of Chat Completions; null: the answer has not ended. */
  readonly finish: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
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
    return schema.parse(JSON.parse(json));
  } catch {
    throw notAnAnswer();
  }
}
