/**
 * Token ids and log-probabilities of each request: int32 and float32 blobs, little-endian. A prompt usually repeats the
 * earlier request of its session (prompt and completion) and goes on: only the part after that common prefix is stored.
 */
import type { Database } from '../store/database.js';

export interface RequestTokens {
  /** As served to the model. */
  promptIds: number[];
  /** As sampled, end token included. */
  completionIds: number[];
  /** One a completion token, float32 precision. */
  logprobs: number[];
}

interface Row {
  prefixOf: string | null;
  prefixLength: number;
  promptSuffix: Buffer;
  completion: Buffer;
  logprobs: Buffer;
}

interface Recent {
  requestId: string;
  ids: Int32Array;
}

/** Sessions whose newest sequences stay in memory; a miss reads them back. */
const CACHED_SESSIONS = 64;
/** Sequences a session keeps as candidates: auxiliary requests run beside the main conversation. */
const CANDIDATES = 3;

export class TokenStore {
  #recent = new Map<string, Recent[]>();

  constructor(private readonly db: Database) {}

  /** Stores the tokens of a request of `sessionId`; call it inside the transaction that stores the request. */
  put(sessionId: string, requestId: string, tokens: RequestTokens): void {
    const prompt = new Int32Array(tokens.promptIds);
    const completion = new Int32Array(tokens.completionIds);
    let base: Recent | undefined;
    let shared = 0;
    for (const candidate of this.#candidates(sessionId)) {
      const length = commonPrefix(candidate.ids, prompt);
      if (length > shared) [base, shared] = [candidate, length];
    }
    this.db
      .prepare(
        `INSERT INTO request_tokens (requestId, prefixOf, prefixLength, promptSuffix, completion, logprobs)
         VALUES (?, ?, ?, ?, ?, ?)`,
      )
      .run(
        requestId,
        base?.requestId ?? null,
        shared,
        bytes(prompt.subarray(shared)),
        bytes(completion),
        bytes(new Float32Array(tokens.logprobs)),
      );
  }

  /** Remembers a *committed* request as a candidate for prefixes. */
  remember(sessionId: string, requestId: string, tokens: RequestTokens): void {
    const list = this.#recent.get(sessionId) ?? this.#load(sessionId);
    const rest = list.filter((recent) => recent.requestId !== requestId).slice(0, CANDIDATES - 1);
    this.#recent.delete(sessionId);
    this.#recent.set(sessionId, [{ requestId, ids: sequenceOf(tokens) }, ...rest]);
    if (this.#recent.size > CACHED_SESSIONS) this.#recent.delete(this.#recent.keys().next().value!);
  }

  forget(sessionId: string): void {
    this.#recent.delete(sessionId);
  }

  get(requestId: string): RequestTokens | undefined {
    const row = this.#row(requestId);
    if (!row) return undefined;
    const promptLength = row.prefixLength + row.promptSuffix.length / 4;
    return {
      promptIds: [...this.#sequence(requestId, promptLength)],
      completionIds: [...int32(row.completion)],
      logprobs: [...float32(row.logprobs)],
    };
  }

  #row(requestId: string): Row | undefined {
    return this.db.prepare('SELECT * FROM request_tokens WHERE requestId = ?').get(requestId) as Row | undefined;
  }

  /** First `length` ids of prompt + completion of a request, following the prefixes upwards. */
  #sequence(requestId: string, length: number): Int32Array {
    const out = new Int32Array(length);
    let need = length;
    let id: string | null = requestId;
    while (need > 0 && id !== null) {
      const row: Row | undefined = this.#row(id);
      if (!row) throw new Error(`The token ids of ${requestId} miss their prefix ${id}.`);
      if (need > row.prefixLength) {
        const own = Buffer.concat([row.promptSuffix, row.completion]);
        out.set(int32(own).subarray(0, need - row.prefixLength), row.prefixLength);
        need = row.prefixLength;
      }
      id = row.prefixOf;
    }
    return out;
  }

  #candidates(sessionId: string): Recent[] {
    const cached = this.#recent.get(sessionId);
    return cached ?? this.#load(sessionId);
  }

  #load(sessionId: string): Recent[] {
    const rows = this.db
      .prepare(
        `SELECT t.requestId, t.prefixLength, length(t.promptSuffix) AS suffix, length(t.completion) AS completion
         FROM request r JOIN request_tokens t ON t.requestId = r.id
         WHERE r.sessionId = ? ORDER BY r.createdAt DESC, r.id DESC LIMIT ?`,
      )
      .all(sessionId, CANDIDATES) as { requestId: string; prefixLength: number; suffix: number; completion: number }[];
    return rows.map((row) => ({
      requestId: row.requestId,
      ids: this.#sequence(row.requestId, row.prefixLength + (row.suffix + row.completion) / 4),
    }));
  }
}

function sequenceOf({ promptIds, completionIds }: RequestTokens): Int32Array {
  const ids = new Int32Array(promptIds.length + completionIds.length);
  ids.set(promptIds);
  ids.set(completionIds, promptIds.length);
  return ids;
}

function commonPrefix(a: Int32Array, b: Int32Array): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a[i] === b[i]) i++;
  return i;
}

const bytes = (array: Int32Array | Float32Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);
/** Copies, because a Buffer from a pool need not be aligned. */
const int32 = (blob: Buffer): Int32Array => new Int32Array(Uint8Array.from(blob).buffer);
const float32 = (blob: Buffer): Float32Array => new Float32Array(Uint8Array.from(blob).buffer);
