/**
 * Ends an answer at the first of some strings, wherever the tokens part. Takes the text in pieces; holds back an end that
 * may still become a stop string. The match that is complete first counts; of two that complete together, the longer.
 */
import { TackroomError } from '../../contract/errors.js';

const MOST_STRINGS = 16;
const LONGEST = 512;

/** Throws BAD_ARGUMENT for an empty string, too many, or too long ones. */
export function checkStops(stops: readonly string[]): void {
  if (stops.length > MOST_STRINGS)
    throw new TackroomError('BAD_ARGUMENT', `At most ${MOST_STRINGS} stop strings are served, not ${stops.length}.`);
  for (const stop of stops)
    if (stop === '' || stop.length > LONGEST)
      throw new TackroomError('BAD_ARGUMENT', `A stop string has between 1 and ${LONGEST} characters.`);
}

export class StopStrings {
  /** Text that may be the beginning of a stop string. */
  #held = '';
  #stopped = false;

  constructor(private readonly stops: readonly string[]) {
    checkStops(stops);
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** The text that is certain to stand before any stop string. After the match: nothing. */
  push(piece: string): string {
    if (this.#stopped) return '';
    if (this.stops.length === 0) return piece;
    const text = this.#held + piece;
    const at = this.#firstComplete(text);
    if (at >= 0) {
      this.#stopped = true;
      this.#held = '';
      return text.slice(0, at);
    }
    const keep = this.#mayContinue(text);
    this.#held = text.slice(text.length - keep);
    return text.slice(0, text.length - keep);
  }

  /** The text held back, when the answer ends without a stop string. */
  finish(): string {
    const out = this.#held;
    this.#held = '';
    return out;
  }

  /** Where the stop string begins that ends first; -1 if there is none. */
  #firstComplete(text: string): number {
    let begin = -1;
    let end = Number.POSITIVE_INFINITY;
    for (const stop of this.stops) {
      const at = text.indexOf(stop);
      if (at < 0) continue;
      const ends = at + stop.length;
      if (ends < end || (ends === end && at < begin)) [begin, end] = [at, ends];
    }
    return begin;
  }

  /** Length of the longest end of `text` that begins a stop string. */
  #mayContinue(text: string): number {
    let longest = 0;
    for (const stop of this.stops)
      for (let n = Math.min(stop.length - 1, text.length); n > longest; n--)
        if (text.endsWith(stop.slice(0, n))) {
          longest = n;
          break;
        }
    return longest;
  }
}
