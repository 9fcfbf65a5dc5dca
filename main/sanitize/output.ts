/** Where the sanitizer's command writes to, and how it is stopped. */
import { closeSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
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
  readonly #listen = (error: Error): void => {
    this.#failure ??= error;
    this.#wake();
  };
  readonly #onClose = (): void => {
    this.#closed = true;
    this.#wake();
  };
  #closed = false;
  #wake: () => void = () => undefined;

  constructor(
    private readonly stream: Writable,
    private readonly signal: AbortSignal | undefined,
  ) {
    stream.on('error', this.#listen).on('close', this.#onClose);
  }

  /** Errors: IO, CANCELLED. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#check();
    if (this.stream.write(bytes)) return;
    await this.#until((done) => this.stream.once('drain', done));
    this.#check();
  }

  /** All that was written has left. Errors: IO. */
  async end(): Promise<void> {
    this.#check();
    await this.#until((done) => this.stream.write(Buffer.alloc(0), () => done()));
    // What a device says of the last bytes comes as an event.
    await setImmediate();
    this.#check();
  }

  close(): void {
    this.stream.off('error', this.#listen).off('close', this.#onClose);
  }

  async #until(begin: (done: () => void) => void): Promise<void> {
    if (this.#failure || this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.signal?.addEventListener('abort', () => resolve(), { once: true });
      begin(resolve);
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

/** A report for its owner alone, which takes its name when it is whole. */
export class ReportFile {
  readonly #partial: string;
  #file: number | null;

  /** Errors: BAD_ARGUMENT where it is one of the files that are read. */
  constructor(
    private readonly path: string,
    read: readonly (string | undefined)[],
  ) {
    if (read.some((other) => other !== undefined && other !== '-' && isSame(other, path)))
      throw new TackroomError('BAD_ARGUMENT', `The report would replace ${path}, which is read.`, 'Name another file.');
    this.#partial = `${path}.partial`;
    rmSync(this.#partial, { force: true });
    this.#file = openSync(this.#partial, 'wx', 0o600);
  }

  write(row: object): void {
    writeSync(this.#file!, `${JSON.stringify(row)}\n`);
  }

  /** A link of this name is replaced, not followed; a device stays one. */
  keep(): void {
    this.#close();
    renameSync(this.#partial, this.path);
  }

  /** What was not kept goes. */
  close(): void {
    if (this.#close()) rmSync(this.#partial, { force: true });
  }

  #close(): boolean {
    if (this.#file === null) return false;
    closeSync(this.#file);
    this.#file = null;
    return true;
  }
}

function isSame(a: string, b: string): boolean {
  try {
    const [x, y] = [statSync(realpathSync(a)), statSync(realpathSync(b))];
    return x.dev === y.dev && x.ino === y.ino;
  } catch {
    return false;
  }
}
