/** A harness's JSON configuration file: read as bytes and as JSON, written in one step. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { TackroomError } from '../../contract/errors.js';

export type JsonObject = Record<string, unknown>;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** latin1 keeps every byte, so that what is put back is byte for byte what was there. */
export const readBytes = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'latin1') : null);

const asText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');
const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Errors: REFUSED for what is not a JSON object, because writing it back would lose what else it is. */
export function parseConfig(path: string, bytes: string | null): JsonObject {
  if (bytes === null || bytes.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(asText(bytes));
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new TackroomError(
    'REFUSED',
    `${path} is not a plain JSON object, so it is left alone.`,
    'Remove comments and trailing commas, or make the change by hand.',
  );
}

/** `value` in the style of `like`: its indentation and its last newline. */
export function formatConfig(value: JsonObject, like: string | null): string {
  const indent = /^[{[]\r?\n([ \t]+)/.exec(like ?? '')?.[1] ?? 2;
  const end = like === null || like.endsWith('\n') || like.trim() === '' ? '\n' : '';
  return asBytes(JSON.stringify(value, null, indent) + end);
}

export const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Replaces the file (the one behind a link) in one step; null removes it. */
export function writeBytes(path: string, bytes: string | null, mode: number): void {
  if (bytes === null) {
    rmSync(path, { force: true });
    return;
  }
  const target = existsSync(path) ? realpathSync(path) : path;
  mkdirSync(dirname(target), { recursive: true });
  const partial = `${target}.${process.pid}.partial`;
  writeFileSync(partial, bytes, { encoding: 'latin1', mode });
  chmodSync(partial, mode);
  renameSync(partial, target);
}
