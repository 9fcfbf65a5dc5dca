/**
 * Cuts a stream into pieces that are looked at one by one. JSON lines stand for themselves; of plain text each piece sees some lines
 * before and after its own, so that a block is found whole. Where the cuts fall depends on the bytes alone, not on how they came.
 */

export interface Piece {
  /** Bytes of the stream that are looked at. */
  from: number;
  to: number;
  /** What is found there between these two belongs to the piece; one begins where the one before ends. */
  ownFrom: number;
  ownTo: number;
}

const PIECE_BYTES = 1 << 20;
/** Lines of plain text that two pieces both see. */
const SHARED_BYTES = 64 << 10;

export class PieceCutter {
  #position = 0;
  /** Beginnings of the lines that a cut may fall on, with whether the line is JSON; from the last cut on. */
  #from = 0;
  #ownFrom = 0;
  #lineStart = 0;
  #first = -1;
  /** Line beginnings of plain text since the last JSON line, newest last. */
  #textLines: number[] = [];

  /** Pieces that end within `bytes`, which follow what came before. */
  push(bytes: Uint8Array): Piece[] {
    const out: Piece[] = [];
    let at = 0;
    while (at < bytes.length) {
      if (this.#first < 0) this.#first = firstByte(bytes, at);
      const newline = bytes.indexOf(10, at);
      if (newline < 0) break;
      at = newline + 1;
      this.#endLine(this.#position + at, out);
    }
    this.#position += bytes.length;
    return out;
  }

  /** The last piece, if anything is left. */
  end(): Piece[] {
    return this.#position > this.#ownFrom
      ? [{ from: this.#from, to: this.#position, ownFrom: this.#ownFrom, ownTo: this.#position }]
      : [];
  }

  #endLine(end: number, out: Piece[]): void {
    // Other JSON looks like lines of logs and of programs: it is looked at with what stands around it.
    const json = this.#first === 123;
    if (json) this.#textLines = [];
    else this.#textLines.push(this.#lineStart);
    this.#lineStart = end;
    this.#first = -1;
    if (end - this.#ownFrom < PIECE_BYTES) return;
    if (json) {
      out.push({ from: this.#from, to: end, ownFrom: this.#ownFrom, ownTo: end });
      this.#from = this.#ownFrom = end;
      return;
    }
    const own = lastAtMost(this.#textLines, end - SHARED_BYTES, this.#ownFrom);
    if (own <= this.#ownFrom) return;
    out.push({ from: this.#from, to: end, ownFrom: this.#ownFrom, ownTo: own });
    this.#ownFrom = own;
    this.#from = lastAtMost(this.#textLines, own - SHARED_BYTES, own);
    this.#textLines = this.#textLines.filter((start) => start >= this.#from);
  }
}

/** The last of the ascending numbers that is `most` or less, else the first one, else `none`. */
function lastAtMost(numbers: readonly number[], most: number, none: number): number {
  for (let i = numbers.length - 1; i >= 0; i--) if (numbers[i]! <= most) return numbers[i]!;
  return numbers[0] ?? none;
}

function firstByte(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const c = bytes[at]!;
    if (c !== 32 && c !== 9 && c !== 13 && c !== 0xef && c !== 0xbb && c !== 0xbf) return c;
    at++;
  }
  return -1;
}
