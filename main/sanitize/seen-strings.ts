/** What was found in the strings of a session, by the numbers that the scanner gives them: most stand in it many times. */
import { Ranges } from './ranges.js';
import type { ByteScanner } from './scan/layout.js';
import { StringState } from './scan/layout.js';

/** How many strings are remembered, and how many places in them. */
const STRINGS = 1 << 19;
const PLACES = 1 << 21;

export class SeenStrings {
  readonly #states = new Uint8Array(STRINGS);
  readonly #first = new Int32Array(STRINGS);
  readonly #count = new Int32Array(STRINGS);
  /** Positions count from the beginnings of the strings. */
  readonly #places = new Ranges();

  /** False: this scanner numbers no strings. */
  attach(scanner: ByteScanner): boolean {
    scanner.remember?.(this.#states);
    return scanner.remember !== undefined;
  }

  isKnown(string: number): boolean {
    return this.#states[string] === StringState.known || this.#states[string] === StringState.nothing;
  }

  /** It has to be looked at every time: what is found depends on what stands around it. */
  everyTime(string: number): void {
    this.#states[string] = StringState.everyTime;
  }

  /** Those of `found` at [first, last) are all that is in the string that begins at `start`. */
  keep(string: number, found: Ranges, first: number, last: number, start: number): void {
    if (this.#states[string] !== StringState.unknown) return;
    if (last === first) this.#states[string] = StringState.nothing;
    else if (this.#places.length + last - first > PLACES) this.#states[string] = StringState.everyTime;
    else {
      this.#states[string] = StringState.known;
      this.#first[string] = this.#places.length;
      this.#count[string] = last - first;
      this.#places.pushSome(found, first, last, -start);
    }
  }

  /** Adds to `out` what is in the string, which stands at `start`. */
  tell(string: number, start: number, out: Ranges): void {
    const first = this.#first[string]!;
    out.pushSome(this.#places, first, first + this.#count[string]!, start);
  }
}
