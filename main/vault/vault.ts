/**
 * Secrets of this home, encrypted on the disk: keys of model servers, and whatever else must be kept but not be readable. Reading takes
 * no lock; writers, whichever process they are in, go one after the other.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { withLock } from '../services/process-lock.js';
import { readPrivate, removePrivate, writePrivate } from './private-file.js';
import { KEY_BYTES, newKey } from './seal.js';
import { openVault, type Protection, type ProtectionKind, parseVault, type Secrets, sealVault } from './vault-file.js';
import {
  checkPassphrase,
  type Keychain,
  keyFileOf,
  makeKeyFile,
  newPassphraseProtection,
  passphraseKey,
  readKeyFile,
} from './wrapping-key.js';

const LOCK_WAIT_MS = 10_000;
export const SecretName = z.string().min(1).max(300);
const SecretValue = z.string().max(1_000_000);

export interface VaultStatus {
  /** What its key comes from; null: there is no vault yet. */
  protection: ProtectionKind | null;
  /** It cannot be read before its passphrase is given, or by anything but the app. */
  locked: boolean;
}

export type NewProtection = { kind: 'key-file' } | { kind: 'passphrase'; passphrase: string } | { kind: 'keychain' };

interface Opened {
  protection: Protection;
  wrappingKey: Buffer;
  secrets: Secrets;
}

export class Vault {
  readonly #file: string;
  readonly #keychain: Keychain | null;
  /** Given by `unlock` or `accept`. */
  #key: Buffer | null = null;

  constructor(
    private readonly home: string,
    keychain: Keychain | null = null,
  ) {
    this.#file = join(home, 'vault.bin');
    this.#keychain = keychain?.available() ? keychain : null;
  }

  /** Whether the system's keychain can protect it from here. */
  get hasKeychain(): boolean {
    return this.#keychain !== null;
  }

  /** Errors: VAULT_DAMAGED, REFUSED. */
  status(): VaultStatus {
    const bytes = readPrivate(this.#file);
    if (bytes === null) return { protection: null, locked: false };
    const vault = parseVault(bytes);
    const key = this.#wrappingKey(vault.protection);
    return { protection: vault.protection.kind, locked: key === null || openVault(vault, key) === null };
  }

  /** undefined: there is no secret of this name. Errors: VAULT_LOCKED, VAULT_DAMAGED, REFUSED. */
  get(name: string): string | undefined {
    return this.#read()?.secrets.get(name);
  }

  list(): string[] {
    return [...(this.#read()?.secrets.keys() ?? [])].sort();
  }

  /** On the disk when it returns. Errors: as `get`, BUSY, BAD_ARGUMENT. */
  async put(name: string, value: string): Promise<void> {
    const checked = [SecretName.parse(name), SecretValue.parse(value)] as const;
    await this.#change('keeping a secret', (secrets) => new Map(secrets).set(...checked));
  }

  /** For good: what is left is sealed with a new key, and the old bytes are overwritten. False: there was none. */
  async delete(name: string): Promise<boolean> {
    let found = false;
    await this.#change('forgetting a secret', (secrets) => {
      const left = new Map(secrets);
      found = left.delete(name);
      return found ? left : null;
    });
    return found;
  }

  /** Everything goes for good, the key file too; works also where nobody can open it any more. */
  async wipe(): Promise<void> {
    await this.#locked('wiping the vault', () => {
      removePrivate(this.#file);
      removePrivate(keyFileOf(this.home));
    });
    this.#key = null;
  }

  /** Opens one that a passphrase protects, until this process ends. Errors: UNAUTHORIZED when it is the wrong one. */
  async unlock(passphrase: string): Promise<void> {
    const bytes = readPrivate(this.#file);
    const vault = bytes && parseVault(bytes);
    if (vault?.protection.kind !== 'passphrase') return;
    const key = await passphraseKey(passphrase, vault.protection);
    if (openVault(vault, key) === null)
      throw new TackroomError('UNAUTHORIZED', 'This is not the passphrase of the vault.', 'Try again.');
    this.#key = key;
  }

  /** What another process of ours needs to read it too; null where it can do so by itself, or nobody can yet. */
  handOver(): Buffer | null {
    const bytes = readPrivate(this.#file);
    const protection = bytes && parseVault(bytes).protection;
    return protection && protection.kind !== 'key-file' ? this.#wrappingKey(protection) : null;
  }

  /** The other end of `handOver`. */
  accept(key: Buffer): void {
    if (key.length !== KEY_BYTES) throw new TackroomError('BAD_ARGUMENT', 'The key of a vault has 32 bytes.');
    this.#key = key;
  }

  /** Says from now on what its key comes from. Errors: as `put`, UNSUPPORTED without a keychain. */
  async protect(next: NewProtection): Promise<void> {
    await this.#locked('changing how the vault is protected', async () => {
      const secrets = this.#read()?.secrets ?? new Map();
      const { protection, wrappingKey } = await this.#newProtection(next);
      this.#write(protection, wrappingKey, secrets);
    });
  }

  #locked<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    return withLock(join(this.home, 'vault.lock'), { what, waitMs: LOCK_WAIT_MS }, work);
  }

  async #change(what: string, edit: (secrets: Secrets) => Secrets | null): Promise<void> {
    await this.#locked(what, async () => {
      const opened = this.#read();
      const edited = edit(opened?.secrets ?? new Map());
      if (edited === null) return;
      const { protection, wrappingKey } =
        opened ?? (await this.#newProtection({ kind: this.#keychain ? 'keychain' : 'key-file' }));
      this.#write(protection, wrappingKey, edited);
    });
  }

  /** With a new data key each time: no nonce can come twice, and no old copy opens a new one. */
  #write(protection: Protection, wrappingKey: Buffer, secrets: Secrets): void {
    writePrivate(this.#file, sealVault(protection, wrappingKey, newKey(), secrets));
    // Not before: the old one still opens what a failed write leaves.
    if (protection.kind === 'passphrase') this.#key = wrappingKey;
    if (protection.kind !== 'key-file') removePrivate(keyFileOf(this.home));
  }

  async #newProtection(next: NewProtection): Promise<{ protection: Protection; wrappingKey: Buffer }> {
    if (next.kind === 'key-file') {
      // One that lies there was made for this vault, or by a run that was killed before it used it.
      const wrappingKey = readKeyFile(this.home) ?? makeKeyFile(this.home);
      return { protection: { kind: 'key-file' }, wrappingKey };
    }
    if (next.kind === 'passphrase') {
      checkPassphrase(next.passphrase);
      const protection = newPassphraseProtection();
      return { protection, wrappingKey: await passphraseKey(next.passphrase, protection) };
    }
    if (!this.#keychain)
      throw new TackroomError(
        'UNSUPPORTED',
        'There is no keychain here that Tackroom could use.',
        'Start the desktop app, or take a passphrase: tackroom vault protect passphrase',
      );
    const wrappingKey = newKey();
    const sealed = this.#keychain.seal(wrappingKey.toString('base64')).toString('base64');
    return { protection: { kind: 'keychain', sealed }, wrappingKey };
  }

  /** null: locked. */
  #wrappingKey(protection: Protection): Buffer | null {
    if (protection.kind === 'key-file') {
      const key = readKeyFile(this.home);
      if (key) return key;
      throw new TackroomError(
        'VAULT_DAMAGED',
        `The vault's key file ${keyFileOf(this.home)} is missing, and nothing else opens the vault.`,
        'Put back a copy of it, or start anew: tackroom vault wipe, and enter the keys again.',
      );
    }
    if (protection.kind === 'keychain' && this.#keychain) return this.#fromKeychain(this.#keychain, protection.sealed);
    return this.#key;
  }

  #fromKeychain(keychain: Keychain, sealed: string): Buffer {
    try {
      return Buffer.from(keychain.open(Buffer.from(sealed, 'base64')), 'base64');
    } catch (cause) {
      throw new TackroomError(
        'VAULT_LOCKED',
        "The system's keychain does not give out the vault's key.",
        'Unlock the keychain, or start anew: tackroom vault wipe, and enter the keys again.',
        { cause },
      );
    }
  }

  /** null: there is no vault yet. */
  #read(before?: Buffer): Opened | null {
    const bytes = readPrivate(this.#file);
    if (bytes === null) return null;
    try {
      return this.#open(bytes);
    } catch (error) {
      // Its key may have been changed between the two reads; once is enough.
      if (before !== undefined || readPrivate(this.#file)?.equals(bytes)) throw error;
      return this.#read(bytes);
    }
  }

  #open(bytes: Buffer): Opened {
    const vault = parseVault(bytes);
    const { protection } = vault;
    const wrappingKey = this.#wrappingKey(protection);
    const secrets = wrappingKey && openVault(vault, wrappingKey);
    if (wrappingKey && secrets) return { protection, wrappingKey, secrets };
    if (protection.kind === 'key-file')
      throw new TackroomError(
        'VAULT_DAMAGED',
        `The vault does not open with its key file ${keyFileOf(this.home)}: one of the two was changed.`,
        'Put back copies of both, or start anew: tackroom vault wipe, and enter the keys again.',
      );
    throw new TackroomError(
      'VAULT_LOCKED',
      protection.kind === 'passphrase'
        ? 'The vault is locked by a passphrase.'
        : "The vault is locked by the system's keychain, which only the desktop app can open.",
      protection.kind === 'passphrase'
        ? 'Give it in the window (Connect), when `tackroom serve` asks for it, or in TACKROOM_VAULT_PASSPHRASE.'
        : 'Open the app and do it there, or change the protection there.',
    );
  }
}
