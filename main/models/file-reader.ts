/** Little-endian reads from the front part of a file, a chunk at a time; every length is checked against what is left. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { TackroomError } from '../../contract/errors.js';

const CHUNK_BYTES = 256 * 1024;
/** Longer strings are no metadata. */
const MAX_STRING_BYTES = 16 * 1024 * 1024;

export class FileReader {
  readonly size: number;
  readonly #fd: number;
  #chunk: Buffer = Buffer.alloc(0);
  /** Where `#chunk` begins in the file, and the next byte to read inside it. */
  #base = 0;
  #at = 0;

  /** Throws MODEL_NOT_FOUND when the file cannot be opened. */
  constructor(readonly path: string) {
    try {
      this.#fd = openSync(path, 'r');
    } catch (cause) {
      throw new TackroomError(
        'MODEL_NOT_FOUND',
        `The model file ${path} cannot be opened.`,
        'Name a GGUF file that this user may read.',
        { cause },
      );
    }
    const stat = fstatSync(this.#fd);
    this.size = stat.isFile() ? stat.size : 0;
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Position in the file, in bytes. */
  get position(): number {
    return this.#base + this.#at;
  }

  get left(): number {
    return this.size - this.position;
  }

  corrupt(what: string): TackroomError {
    return new TackroomError(
      'MODEL_CORRUPT',
      `${this.path} is damaged: ${what}.`,
      'Copy or download the model again; the file is left as it is.',
    );
  }

  /** The next `length` bytes, valid until the next call. Throws MODEL_CORRUPT when the file ends before. */
  bytes(length: number): Buffer {
    if (length > this.left) throw this.corrupt(`it ends at byte ${this.size}, inside its header`);
    if (this.#at + length > this.#chunk.length) this.#fill(length);
    const out = this.#chunk.subarray(this.#at, this.#at + length);
    this.#at += length;
    return out;
  }

  #fill(length: number): void {
    const base = this.position;
    const wanted = Math.min(Math.max(length, CHUNK_BYTES), this.size - base);
    const chunk = Buffer.allocUnsafe(wanted);
    let got = 0;
    while (got < wanted) {
      const n = readSync(this.#fd, chunk, got, wanted - got, base + got);
      if (n === 0) throw this.corrupt('it became shorter while it was read');
      got += n;
    }
    this.#chunk = chunk;
    this.#base = base;
    this.#at = 0;
  }

  u32(): number {
    return this.bytes(4).readUInt32LE(0);
  }

  /** A u64 that must be a count or a length; beyond 2^53 it is damage. */
  count(what: string): number {
    const value = this.bytes(8).readBigUInt64LE(0);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw this.corrupt(`${what} is ${value}`);
    return Number(value);
  }

  /** u64 length + UTF-8; bytes that are no UTF-8 become U+FFFD. */
  string(what: string): string {
    const length = this.count(`the length of ${what}`);
    if (length > Math.min(this.left, MAX_STRING_BYTES)) throw this.corrupt(`${what} is ${length} bytes long`);
    return length === 0 ? '' : this.bytes(length).toString('utf8');
  }
}
