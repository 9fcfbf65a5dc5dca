/** Tokens a second over the last few seconds of work. */
const MEMORY_SECONDS = 3;
const IDLE_MS = 3000;

export class RateMeter {
  #tokens = 0;
  #seconds = 0;
  #at = Number.NEGATIVE_INFINITY;

  /** `tokens` made in `seconds` of work that ended at `now` (performance.now()). */
  add(tokens: number, seconds: number, now: number): void {
    const keep = Math.exp(-seconds / MEMORY_SECONDS);
    this.#tokens = this.#tokens * keep + tokens;
    this.#seconds = this.#seconds * keep + seconds;
    this.#at = now;
  }

  /** 0 after three seconds without work. */
  value(now: number): number {
    return now - this.#at > IDLE_MS || this.#seconds === 0 ? 0 : Math.round(this.#tokens / this.#seconds);
  }
}
