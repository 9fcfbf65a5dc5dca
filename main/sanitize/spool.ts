/**
 * Input that must be read twice, kept in the home folder meanwhile: a file that only this process can reach, because its name is taken
 * away at once. Nothing of it is left when the process dies. Small inputs stay in memory.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { makeFolder } from '../services/paths.js';

/** Up to this much is kept in memory. */
const MEMORY_BYTES = 8 << 20;

export class Spool {
  readonly #folder: string;
  #chunks: Buffer[] = [];
  #file: number | null = null;
  #length = 0;
  #buffer = Buffer.alloc(0);

  /** `folder`: where the file goes; made when it is needed. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  get length(): number {
    return this.#length;
  }

  /** Errors: IO, DISK_FULL. */
  append(bytes: Buffer): void {
    if (this.#file === null && this.#length + bytes.length > MEMORY_BYTES) this.#toFile();
    this.#length += bytes.length;
    if (this.#file === null) this.#chunks.push(Buffer.from(bytes));
    else writeWhole(this.#file, bytes);
  }

  /** `length` bytes from `position` on; valid until the next reading. */
  read(position: number, length: number): Buffer {
    if (this.#file === null) {
      if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
      return this.#chunks[0]?.subarray(position, position + length) ?? Buffer.alloc(0);
    }
    // One buffer for all readings: a long line is in memory once, not once for each pass.
    if (this.#buffer.length < length) this.#buffer = Buffer.allocUnsafeSlow(length);
    const bytes = this.#buffer.subarray(0, length);
    for (let at = 0; at < length; ) {
      const count = readSync(this.#file, bytes, at, length - at, position + at);
      if (count === 0) throw new TackroomError('IO', 'What was put aside to be read a second time ended early.');
      at += count;
    }
    return bytes;
  }

  close(): void {
    this.#chunks = [];
    this.#buffer = Buffer.alloc(0);
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #toFile(): void {
    makeFolder(this.#folder);
    const path = join(this.#folder, `sanitize-${randomUUID()}`);
    this.#file = openSync(path, 'wx+', 0o600);
    rmSync(path);
    for (const chunk of this.#chunks) writeWhole(this.#file, chunk);
    this.#chunks = [];
  }
}

function writeWhole(file: number, bytes: Buffer): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } catch (cause) {
    const full = (cause as NodeJS.ErrnoException).code === 'ENOSPC';
    throw new TackroomError(
      full ? 'DISK_FULL' : 'IO',
      'The input cannot be put aside to be read a second time.',
      'Sanitizing needs as much free space as the input has bytes, in the home folder of Tackroom.',
      { cause },
    );
  }
}
