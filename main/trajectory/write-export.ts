/** Writes exports: a cleaned one, or a raw one that is marked as such. Both whole or not at all, and for this user alone. */
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { CleanDocument } from '../sanitize/clean.js';

export interface Target {
  /** A file, or a folder in which the file gets its name. */
  path: string;
  sessionId: string;
  format: string;
}

/** The path that was written. Errors: IO, REFUSED for what the sanitizer did not make. */
export function writeExport(document: CleanDocument, target: Target): string {
  if (!CleanDocument.is(document))
    throw new TackroomError('REFUSED', 'Only what the sanitizer made can be exported.', 'Export the session again.');
  return write(document.text(), fileOf(target, 'json'));
}

/** For this machine only: the name says so where we give it. */
export function writeRawExport(document: Record<string, unknown>, target: Target): string {
  return write(rawText(document), fileOf(target, 'unsanitized.json'));
}

/** Errors: REFUSED when the mark is missing. */
export function rawText(document: Record<string, unknown>): string {
  const { extra } = document as { extra?: { tackroom?: { sanitized?: unknown } } };
  if (extra?.tackroom?.sanitized !== false)
    throw new TackroomError('REFUSED', 'A raw export must say that it is not sanitized.');
  return `${JSON.stringify(document, null, 2)}\n`;
}

function fileOf({ path, sessionId, format }: Target, ending: string): string {
  const target = resolve(path);
  const isFolder = statSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? join(target, `${sessionId}.${format}.${ending}`) : target;
}

function write(text: string, target: string): string {
  const temporary = `${target}.tmp-${process.pid}`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, target);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new TackroomError('IO', `The export cannot be written to ${target}.`, 'Is the folder there, and yours?', {
      cause,
    });
  }
  return target;
}
