/** A harness's configuration file as bytes: read, and written in one step that a kill cannot tear. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { TackroomError } from '../../contract/errors.js';

export const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');

/** null: there is no such file. */
export const readBytes = (path: string): Buffer | null => (existsSync(path) ? readFileSync(path) : null);

export const sameBytes = (a: Buffer | null, b: Buffer | null): boolean => (a && b ? a.equals(b) : a === b);

export const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Four times the longest example that a harness ships; what is longer would take seconds to edit. */
const MAX_BYTES = 512_000;

/** Errors: REFUSED for bytes that are not UTF-8, because writing them back as text would lose them. */
export function textOf(path: string, bytes: Buffer): string {
  if (bytes.length > MAX_BYTES)
    throw new TackroomError(
      'REFUSED',
      `${path} is longer than ${MAX_BYTES / 1000} KB, so it is left alone.`,
      'Make the change by hand (--dry-run with an empty --root shows it).',
    );
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw new TackroomError(
    'REFUSED',
    `${path} is not UTF-8 text, so it is left alone.`,
    'Save it as UTF-8, or make the change by hand (--dry-run with an empty --root shows it).',
  );
}

/** The file behind a link: dotfiles are often links into a repository, and shall stay links. */
const behindLink = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** Always the same name: what a kill left is overwritten by the next write, or removed by `removePartial`. */
const partialOf = (target: string): string => `${target}.tackroom-partial`;

export const removePartial = (path: string): void => rmSync(partialOf(behindLink(path)), { force: true });

/** Replaces the file in one step, for the owner it had; null removes it. */
export function writeBytes(path: string, bytes: Buffer | null, mode: number): void {
  if (bytes === null) {
    rmSync(path, { force: true });
    return;
  }
  const target = behindLink(path);
  const partial = partialOf(target);
  const file = openSync(partial, 'w', 0o600);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (existsSync(target)) {
    const { uid, gid } = statSync(target);
    if (process.getuid?.() === 0) chownSync(partial, uid, gid);
  }
  chmodSync(partial, mode);
  renameSync(partial, target);
}
