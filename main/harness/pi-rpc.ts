/**
 * Client of `pi --mode rpc` (its docs/rpc.md): JSON records, one a line, split at LF only, on the streams of a process.
 */
import type { Readable, Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';

export interface PiRecord {
  type: string;
  id?: string;
  success?: boolean;
  error?: string;
  data?: Record<string, unknown>;
  message?: { role?: string; stopReason?: string; errorMessage?: string };
}

interface Waiting {
  resolve(record: PiRecord): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;

export class PiRpc {
  #next = 1;
  #pending = '';
  readonly #waiting = new Map<string, Waiting>();
  readonly #listeners = new Set<(event: PiRecord) => void>();
  #ended: TackroomError | undefined;

  /** `onBroken`: pi broke the protocol and has to be ended. */
  constructor(
    private readonly input: Writable,
    output: Readable,
    private readonly onBroken: (error: TackroomError) => void,
  ) {
    output.setEncoding('utf8');
    output.on('data', (chunk: string) => this.#read(chunk));
  }

  /** Session events, in order; returns the unsubscriber. */
  on(listener: (event: PiRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends a command. Errors: DEADLINE, SERVICE_GONE when pi ends, REFUSED when pi says no. */
  async call(type: string, fields: Record<string, unknown> = {}, timeoutMs = 10_000): Promise<PiRecord> {
    if (this.#ended) throw this.#ended;
    const id = `r${this.#next++}`;
    const response = await new Promise<PiRecord>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new TackroomError('DEADLINE', `pi did not answer ${type} within ${timeoutMs} ms.`));
      }, timeoutMs);
      this.#waiting.set(id, { resolve, reject, timer });
      this.input.write(`${JSON.stringify({ id, type, ...fields })}\n`);
    });
    if (!response.success)
      throw new TackroomError('REFUSED', `pi refused ${type}: ${response.error ?? 'no reason given'}.`);
    return response;
  }

  /** Rejects all open calls, and all later ones. */
  end(error: TackroomError): void {
    this.#ended ??= error;
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer);
      waiting.reject(error);
    }
    this.#waiting.clear();
  }

  #read(chunk: string): void {
    if (this.#ended) return;
    this.#pending += chunk;
    const lines = this.#pending.split('\n');
    this.#pending = lines.pop() ?? '';
    if (this.#pending.length > MAX_LINE_BYTES) {
      this.#break('sent a record that is too long');
      return;
    }
    for (const line of lines) {
      if (line.trim() === '') continue;
      let record: PiRecord;
      try {
        record = JSON.parse(line) as PiRecord;
      } catch {
        this.#break('sent a line that is not JSON');
        return;
      }
      this.#dispatch(record);
    }
  }

  #dispatch(record: PiRecord): void {
    if (record.type !== 'response') {
      for (const listener of this.#listeners) listener(record);
      return;
    }
    const waiting = this.#waiting.get(record.id ?? '');
    if (!waiting) return;
    this.#waiting.delete(record.id ?? '');
    clearTimeout(waiting.timer);
    waiting.resolve(record);
  }

  #break(what: string): void {
    const error = new TackroomError('INTERNAL', `pi ${what}.`);
    this.end(error);
    this.onBroken(error);
  }
}
