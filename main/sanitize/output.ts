/** Where the sanitizer's command writes to, and how it is stopped. */
import { closeSync, openSync, realpathSync, renameSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { TackroomError } from '../../contract/errors.js';

/** Lets signals and streams come round. Errors: CANCELLED. */
export async function breathe(signal: AbortSignal | undefined): Promise<void> {
  await setImmediate();
  if (signal?.aborted)
    throw new TackroomError('CANCELLED', 'Sanitizing was stopped; what was written is not whole.', 'Run it again.');
}

/** A stream that waits for slower readers, and says when nothing can be written any more. */
export class Output {
  #failure: Error | null = null;
  #closed = false;
  #wake: () => void = () => undefined;
  readonly #onError = (error: Error): void => {
    this.#failure ??= error;
    this.#wake();
  };
  readonly #onClose = (): void => {
    this.#closed = true;
    this.#wake();
  };
  readonly #onWake = (): void => this.#wake();

  /** Whoever waits for a slow reader stops waiting when `signal` says so. */
  constructor(
    private readonly stream: Writable,
    private readonly signal?: AbortSignal,
  ) {
    stream.on('error', this.#onError).on('close', this.#onClose).on('drain', this.#onWake);
    signal?.addEventListener('abort', this.#onWake);
  }

  /** Errors: IO. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#check();
    if (this.stream.write(bytes)) return;
    await this.#woken();
    this.#check();
  }

  /** All that was written has left. Errors: IO. */
  async end(): Promise<void> {
    this.#check();
    const woken = this.#woken();
    this.stream.write(Buffer.alloc(0), this.#onWake);
    await woken;
    // What a device says of the last bytes comes as an event.
    await setImmediate();
    this.#check();
  }

  close(): void {
    this.stream.off('error', this.#onError).off('close', this.#onClose).off('drain', this.#onWake);
    this.signal?.removeEventListener('abort', this.#onWake);
  }

  async #woken(): Promise<void> {
    if (this.#failure || this.#closed || this.signal?.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #check(): void {
    if (!this.#failure && !this.#closed) return;
    const cause = this.#failure;
    throw new TackroomError(
      'IO',
      `The output cannot be written${cause ? `: ${cause.message}` : ': it was closed'}.`,
      'Write to a place with room.',
      { cause },
    );
  }
}

/**
 * A report for its owner alone, which takes its name when it is whole. Through a link it replaces the file that the link names; a device
 * or a pipe is written to as it is.
 */
export class ReportFile {
  /** The file that is replaced; null: what is opened is written to directly. */
  readonly #target: string | null;
  readonly #written: string;
  #file: number | null;

  /** Errors: BAD_ARGUMENT where it is one of the files that are read. */
  constructor(path: string, read: readonly (string | undefined)[]) {
    const info = statSync(path, { throwIfNoEntry: false });
    if (info?.isFile() && read.some((other) => other !== undefined && other !== '-' && isFile(other, info)))
      throw new TackroomError('BAD_ARGUMENT', `The report would replace ${path}, which is read.`, 'Name another file.');
    // What a process has open has names there too: `/dev/stdout` may be a file, and stays where it is.
    const isOpen = /^\/(?:dev|proc)\//.test(path);
    this.#target = isOpen || (info && !info.isFile()) ? null : info ? realpathSync(path) : path;
    this.#written = this.#target === null ? path : `${this.#target}.partial`;
    if (this.#target !== null) rmSync(this.#written, { force: true });
    this.#file = openSync(this.#written, this.#target === null ? 'a' : 'wx', 0o600);
  }

  write(row: object): void {
    writeSync(this.#file!, `${JSON.stringify(row)}\n`);
  }

  keep(): void {
    this.#close();
    if (this.#target !== null) renameSync(this.#written, this.#target);
  }

  /** What was not kept goes. */
  close(): void {
    if (this.#close() && this.#target !== null) rmSync(this.#written, { force: true });
  }

  #close(): boolean {
    if (this.#file === null) return false;
    closeSync(this.#file);
    this.#file = null;
    return true;
  }
}

function isFile(path: string, { dev, ino }: Stats): boolean {
  const other = statSync(path, { throwIfNoEntry: false });
  return other !== undefined && other.dev === dev && other.ino === ino;
}
