/** The body of a request while it comes in: whole, or as it comes. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { HttpError } from './http-error.js';

/** Larger than any conversation with pictures in it. */
export const MAX_BODY_BYTES = 128 * 1024 * 1024;
/** What is over the limit is read and dropped up to this, so that the client gets to read the answer. */
const MAX_DRAIN_BYTES = 4 * MAX_BODY_BYTES;

export class IncomingBody {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #headBytes = 0;
  #ended = false;
  #whole: Buffer | null = null;
  #onward: Readable | null = null;
  /** What came first, which often is everything. Rejects when the client hangs up. */
  readonly head: Promise<Buffer>;
  /** Rejects with 413 over the limit, and when the client hangs up. */
  readonly ended: Promise<void>;
  /** Bytes, where the client says so and it is within the limit. */
  readonly length: number | null;

  /** Throws 400 for a body that is compressed. */
  constructor(request: IncomingMessage) {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity')
      throw new HttpError(400, 'UNSUPPORTED', 'Send the body without compression.');
    const said = Number(request.headers['content-length'] ?? Number.NaN);
    this.length = said <= MAX_BODY_BYTES ? said : null;
    let begun: (head: Buffer) => void;
    let lost: (cause: Error) => void;
    this.head = new Promise((resolve, reject) => {
      begun = resolve;
      lost = reject;
    });
    this.ended = new Promise((resolve, reject) => {
      request.on('data', (chunk: Buffer) => {
        if (this.#bytes === 0) {
          this.#headBytes = chunk.length;
          begun(chunk);
        }
        this.#take(chunk, request);
      });
      request.once('end', () => {
        this.#ended = true;
        begun(Buffer.alloc(0));
        this.#onward?.push(null);
        if (this.#bytes <= MAX_BODY_BYTES) resolve();
        else reject(new HttpError(413, 'BAD_ARGUMENT', `The body is larger than ${MAX_BODY_BYTES / 1024 / 1024} MB.`));
      });
      const gone = (cause?: Error): void => {
        if (this.#ended) return;
        const error = cause ?? new Error('The client hung up.');
        lost(error);
        reject(error);
        this.#onward?.destroy(error);
      };
      request.once('error', gone).once('close', () => gone());
    });
    // Whoever waits for either later hears of a failure; nobody may be waiting yet.
    this.head.catch(() => undefined);
    this.ended.catch(() => undefined);
  }

  /** Put together when it is first asked for, which takes a moment. Rejects as `ended` does. */
  async whole(): Promise<Buffer> {
    await this.ended;
    this.#whole ??= Buffer.concat(this.#chunks.splice(0), this.#bytes);
    return this.#whole;
  }

  /** Everything as it comes, `head` in the place of what came first. Once, when that is there and before `whole` is given away. */
  from(head: Buffer): Readable {
    const onward = new Readable({ read: () => undefined });
    // Whoever sends it on says what broke.
    onward.on('error', () => undefined);
    onward.push(head);
    for (const chunk of this.#whole ? [this.#whole.subarray(this.#headBytes)] : this.#chunks.slice(1))
      onward.push(chunk);
    if (this.#ended) onward.push(null);
    this.#onward = onward;
    return onward;
  }

  #take(chunk: Buffer, request: IncomingMessage): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_BODY_BYTES) {
      this.#chunks.push(chunk);
      this.#onward?.push(chunk);
    } else {
      this.#chunks.length = 0;
      if (this.#bytes > MAX_DRAIN_BYTES) request.destroy();
    }
  }
}

export const readBody = (request: IncomingMessage): Promise<Buffer> => new IncomingBody(request).whole();
