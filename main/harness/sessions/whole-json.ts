/** A file that is one JSON document: it has to be held whole, so its size is limited. */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openSource, parseObject } from './json-lines.js';
import { type SourceFile, Unreadable } from './session-writer.js';

export const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Throws Unreadable. */
export function wholeText(file: SourceFile): string {
  const fd = openSource(file.path);
  try {
    const { size } = fstatSync(fd);
    if (size > MAX_DOCUMENT_BYTES)
      throw new Unreadable(`a document larger than ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`);
    const buffer = Buffer.alloc(size);
    let got = 0;
    for (let more = -1; more !== 0 && got < size; got += more) more = readSync(fd, buffer, got, size - got, got);
    return buffer.toString('utf8', 0, got).replace(/^\uFEFF/, '');
  } finally {
    closeSync(fd);
  }
}

/** Throws Unreadable. */
export function wholeObject(file: SourceFile): Record<string, unknown> {
  const value = parseObject(wholeText(file));
  if (!value) throw new Unreadable('no JSON object');
  return value;
}
