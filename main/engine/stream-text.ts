/**
 * Splits the answer of a model into text that may be shown at once and the rest. A call's markup is never shown while
 * it may still become a call; what `parse` leaves as text is flushed at the end.
 */
export class StreamText {
  #sent = 0;
  constructor(private readonly opener: string) {}

  /** `text`: everything decoded so far. Returns what can be shown now ('' if nothing). */
  push(text: string): string {
    const at = text.indexOf(this.opener);
    let end = at >= 0 ? at : text.length;
    if (at < 0) {
      const longest = Math.min(this.opener.length - 1, text.length);
      for (let n = longest; n > 0; n--)
        if (text.endsWith(this.opener.slice(0, n))) {
          end = text.length - n;
          break;
        }
      // An unfinished UTF-8 sequence decodes to U+FFFD until its last byte is there.
      while (end > 0 && text.charCodeAt(end - 1) === 0xfffd) end--;
    }
    if (end <= this.#sent) return '';
    const out = text.slice(this.#sent, end);
    this.#sent = end;
    return out;
  }

  /** The rest of the final text. */
  finish(content: string): string {
    const out = content.slice(this.#sent);
    this.#sent = content.length;
    return out;
  }
}
