/** Lines of JSON, one at a time: the memory of a read is that of its longest line, not of the file. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type Skip, Unreadable } from './session-writer.js';

/** Longer lines are left out. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

export interface JsonLine {
  /** 1 is the first. */
  line: number;
  value: Record<string, unknown>;
  /** Byte position and length in the file, for reading it again. */
  offset: number;
  bytes: number;
}

/** Links are not followed and pipes not waited for. */
export function openSource(path: string): number {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
  } catch (cause) {
    throw new Unreadable(`cannot be opened (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`, { cause });
  }
  throw new Unreadable('is no ordinary file');
}

/**
 * The objects of a file, up to the size it has when the reading begins. Empty lines are no lines; what is damaged is
 * skipped by its number, and a last line without an end is a torn one when it does not parse.
 */
export function* jsonLines(path: string, skip: Skip): Generator<JsonLine> {
  const fd = openSource(path);
  try {
    for (const raw of rawLines(fd, fstatSync(fd).size)) {
      if (raw.bytes === null) {
        skip(raw.line, `longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
        continue;
      }
      const text = raw.bytes.toString('utf8').replace(/^\uFEFF/, '');
      if (text.trim() === '') continue;
      const value = parseObject(text);
      if (value) yield { line: raw.line, value, offset: raw.offset, bytes: raw.bytes.length };
      else skip(raw.line, raw.ended ? 'not a JSON object' : 'torn last line');
    }
  } finally {
    closeSync(fd);
  }
}

/** One line again. */
export function lineAt(fd: number, offset: number, bytes: number): Record<string, unknown> | null {
  const buffer = Buffer.alloc(bytes);
  const got = readSync(fd, buffer, 0, bytes, offset);
  return got === bytes ? parseObject(buffer.toString('utf8').replace(/^\uFEFF/, '')) : null;
}

export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

interface RawLine {
  line: number;
  offset: number;
  /** null: longer than is read. */
  bytes: Buffer | null;
  ended: boolean;
}

function* rawLines(fd: number, size: number): Generator<RawLine> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let parts: Buffer[] = [];
  let length = 0;
  let line = 1;
  let start = 0;
  const take = (ended: boolean): RawLine => {
    const bytes = length > MAX_LINE_BYTES ? null : Buffer.concat(parts);
    const taken = { line, offset: start, bytes, ended };
    start += length + 1;
    line++;
    parts = [];
    length = 0;
    return taken;
  };
  for (let position = 0; position < size; ) {
    const got = readSync(fd, chunk, 0, Math.min(CHUNK_BYTES, size - position), position);
    if (got === 0) break;
    position += got;
    for (let from = 0; from < got; ) {
      const found = chunk.subarray(0, got).indexOf(NEWLINE, from);
      const to = found < 0 ? got : found;
      length += to - from;
      if (length <= MAX_LINE_BYTES) parts.push(Buffer.from(chunk.subarray(from, to)));
      else parts = [];
      if (found >= 0) yield take(true);
      from = to + 1;
    }
  }
  if (length > 0) yield take(false);
}
