/** Many small whole numbers, below 2 to the 32nd, in few bytes: seven bits a byte, the lowest first. */
const FIRST_ROOM = 4096;
const LONGEST = 5;

export class Numbers {
  #bytes = Buffer.alloc(FIRST_ROOM);
  #length = 0;

  push(number: number): void {
    if (this.#length + LONGEST > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    let rest = number >>> 0;
    for (; rest > 0x7f; rest >>>= 7) this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#length++] = rest;
  }

  get length(): number {
    return this.#length;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

export function readNumbers(bytes: Buffer): number[] {
  const out: number[] = [];
  let number = 0;
  let shift = 0;
  for (const byte of bytes) {
    number += (byte & 0x7f) * 2 ** shift;
    shift += 7;
    if (byte > 0x7f && shift < LONGEST * 7) continue;
    out.push(number);
    number = 0;
    shift = 0;
  }
  return out;
}
