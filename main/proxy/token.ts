/** The per-install token: whoever can read it is the user. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SHAPE = /^[A-Za-z0-9_-]{32,}$/;

/** Reads `home`/token, or makes it (mode 0600) on first use. Safe to call from several processes at once. */
export function installToken(home: string): string {
  const file = join(home, 'token');
  const known = read(file);
  if (known !== undefined) return known;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return read(file) ?? replaceDamaged(file);
}

function read(file: string): string | undefined {
  try {
    const token = readFileSync(file, 'utf8').trim();
    return SHAPE.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

function replaceDamaged(file: string): string {
  const token = randomBytes(24).toString('base64url');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return token;
}
