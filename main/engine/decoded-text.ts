/** Text of a growing list of ids in pieces: an unfinished UTF-8 sequence decodes to U+FFFD until its last byte is there. */
export class DecodedText {
  #length = 0;

  constructor(private readonly decode: (ids: readonly number[]) => string) {}

  /** `ids`: all so far. Returns the text that is new and certain; with `last`, all that is left. */
  push(ids: readonly number[], last = false): string {
    const text = this.decode(ids);
    let end = text.length;
    while (!last && end > 0 && text.charCodeAt(end - 1) === 0xfffd) end--;
    if (end <= this.#length) return '';
    const piece = text.slice(this.#length, end);
    this.#length = end;
    return piece;
  }
}
