/** Where the key comes from that the vault's data key is wrapped with. */
import { randomBytes, scrypt } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TackroomError } from '../../contract/errors.js';
import { readPrivate, writePrivate } from './private-file.js';
import { KEY_BYTES, newKey } from './seal.js';
import type { Protection } from './vault-file.js';

/** The system's own, where the app runs: Electron's safeStorage. */
export interface Keychain {
  /** False also where it would only hide the key, as without a keyring on Linux. */
  available(): boolean;
  seal(text: string): Buffer;
  open(sealed: Buffer): string;
}

const SALT_BYTES = 16;
/** 128 MiB and about half a second: OWASP's first choice for scrypt. */
const COST_LOG2 = 17;
const BLOCK_SIZE = 8;
const SCRYPT_BYTES = 512 * 1024 * 1024;
const LEAST_CHARS = 8;

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

type OfPassphrase = Extract<Protection, { kind: 'passphrase' }>;

export const keyFileOf = (home: string): string => join(home, 'vault.key');

export const newPassphraseProtection = (): OfPassphrase => ({
  kind: 'passphrase',
  salt: randomBytes(SALT_BYTES).toString('base64'),
  costLog2: COST_LOG2,
});

/** Errors: BAD_ARGUMENT for one that is too short to protect anything. */
export function checkPassphrase(passphrase: string): void {
  if (passphrase.length < LEAST_CHARS)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `A passphrase of fewer than ${LEAST_CHARS} characters protects nothing.`,
      'Take several words.',
    );
}

/** The same passphrase typed on another keyboard may come in other code points. */
export const passphraseKey = (passphrase: string, { salt, costLog2 }: OfPassphrase): Promise<Buffer> =>
  derive(passphrase.normalize('NFKC'), Buffer.from(salt, 'base64'), KEY_BYTES, {
    N: 2 ** costLog2,
    r: BLOCK_SIZE,
    p: 1,
    maxmem: SCRYPT_BYTES,
  });

const HEX_KEY = /^[0-9a-f]{64}\s*$/;

/** null: there is no key file. Errors: REFUSED, VAULT_DAMAGED. */
export function readKeyFile(home: string): Buffer | null {
  const path = keyFileOf(home);
  const bytes = readPrivate(path);
  if (bytes === null) return null;
  const text = bytes.toString('latin1');
  if (!HEX_KEY.test(text))
    throw new TackroomError(
      'VAULT_DAMAGED',
      `The vault's key file ${path} is damaged.`,
      'Put back a copy of it, or start anew: tackroom vault wipe, and enter the keys again.',
    );
  return Buffer.from(text.trim(), 'hex');
}

export function makeKeyFile(home: string): Buffer {
  const key = newKey();
  writePrivate(keyFileOf(home), Buffer.from(`${key.toString('hex')}\n`));
  return key;
}
