import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scrub } from '../../main/vault/private-file.js';
import { Vault } from '../../main/vault/vault.js';
import type { Keychain } from '../../main/vault/wrapping-key.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-vault-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const file = (name = 'vault.bin'): string => join(home, name);
const secret = (): string => `sk-${randomBytes(18).toString('hex')}`;
/** What lies in the home folder, whatever it is called. */
const everything = (): string =>
  readdirSync(home)
    .map((name) => readFileSync(file(name), 'latin1'))
    .join('\n');

describe('with a key file', () => {
  it('keeps, lists and forgets, and other instances see it', async () => {
    const [vault, value] = [new Vault(home), secret()];
    expect(vault.status()).toEqual({ protection: null, locked: false });
    expect([vault.get('a'), vault.list()]).toEqual([undefined, []]);
    await vault.put('a', value);
    await vault.put('__proto__', 'p');
    await vault.put('a', `${value}2`);
    const other = new Vault(home);
    expect(other.status()).toEqual({ protection: 'key-file', locked: false });
    expect([other.get('a'), other.get('__proto__'), other.list()]).toEqual([`${value}2`, 'p', ['__proto__', 'a']]);
    expect(everything()).not.toContain(value);
    expect([await vault.delete('a'), await vault.delete('a'), other.get('a')]).toEqual([true, false, undefined]);
  });

  it('is for its owner alone, and takes rights back that were given since', async () => {
    await new Vault(home).put('a', 'b');
    for (const name of ['vault.bin', 'vault.key']) {
      expect(statSync(file(name)).mode & 0o777).toBe(0o600);
      chmodSync(file(name), 0o644);
    }
    expect(new Vault(home).get('a')).toBe('b');
    expect(['vault.bin', 'vault.key'].map((name) => statSync(file(name)).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it('refuses a key file that is a link', async () => {
    await new Vault(home).put('a', 'b');
    const elsewhere = file('elsewhere');
    writeFileSync(elsewhere, readFileSync(file('vault.key')));
    rmSync(file('vault.key'));
    symlinkSync(elsewhere, file('vault.key'));
    expect(() => new Vault(home).get('a')).toThrow(expect.objectContaining({ code: 'REFUSED' }) as Error);
  });

  it.each([
    ['is gone', () => rmSync(file('vault.key')), /is missing/],
    ['holds something else', () => writeFileSync(file('vault.key'), 'x'), /key file .* is damaged/],
    [
      'is that of another vault',
      () => writeFileSync(file('vault.key'), randomBytes(32).toString('hex')),
      /does not open/,
    ],
  ])('says so when the key file %s, and keeps the vault as it is', async (_what, harm, message) => {
    await new Vault(home).put('a', 'b');
    const before = readFileSync(file());
    harm();
    const vault = new Vault(home);
    expect(() => vault.get('a')).toThrow(message);
    await expect(vault.put('c', 'd')).rejects.toMatchObject({ code: 'VAULT_DAMAGED' });
    expect(readFileSync(file())).toEqual(before);
    await vault.wipe();
    await vault.put('c', 'd');
    expect(new Vault(home).list()).toEqual(['c']);
  });

  it('finds a change of any bit of its file', async () => {
    const vault = new Vault(home);
    await vault.put('name', 'value');
    const whole = readFileSync(file());
    for (let at = 0; at < whole.length * 8; at++) {
      const bytes = Buffer.from(whole);
      bytes[at >> 3]! ^= 1 << (at & 7);
      writeFileSync(file(), bytes);
      expect(() => vault.get('name'), `bit ${at}`).toThrow();
    }
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(file(), whole.subarray(0, length));
      expect(() => vault.get('name'), `${length} bytes`).toThrow();
    }
    writeFileSync(file(), whole);
    expect(vault.get('name')).toBe('value');
  });

  it('is written by a newer version: says so', async () => {
    writeFileSync(file(), '{"format":"tackroom-vault","version":2,"other":1}\nxx');
    expect(() => new Vault(home).get('a')).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }) as Error);
  });
});

describe('deleting for good', () => {
  it('leaves no old copy that the old key file would open', async () => {
    const vault = new Vault(home);
    await vault.put('a', secret());
    const before = readFileSync(file());
    await vault.delete('a');
    expect(readdirSync(home).sort()).toEqual(['vault.bin', 'vault.key', 'vault.lock']);
    writeFileSync(file(), Buffer.concat([before.subarray(0, before.indexOf(10)), readFileSync(file()).subarray(-10)]));
    expect(() => vault.get('a')).toThrow(expect.objectContaining({ code: 'VAULT_DAMAGED' }) as Error);
    await vault.wipe();
    expect(readdirSync(home)).toEqual(['vault.lock']);
    expect(vault.status()).toEqual({ protection: null, locked: false });
  });

  it('overwrites the bytes before it removes them', async () => {
    const { openSync, readSync, closeSync } = await import('node:fs');
    const vault = new Vault(home);
    await vault.put('a', 'b');
    const { size } = statSync(file());
    const handle = openSync(file(), 'r');
    await vault.delete('a');
    const bytes = Buffer.alloc(size);
    readSync(handle, bytes, 0, size, 0);
    closeSync(handle);
    expect(bytes.equals(Buffer.alloc(size))).toBe(true);
  });

  it('sweeps what a kill left of an earlier write', async () => {
    const vault = new Vault(home);
    await vault.put('a', 'b');
    for (const left of ['vault.bin.partial', 'vault.bin.old']) writeFileSync(file(left), 'left');
    await vault.put('c', 'd');
    expect(readdirSync(home).sort()).toEqual(['vault.bin', 'vault.key', 'vault.lock']);
    scrub(file('nothing'));
    expect(vault.list()).toEqual(['a', 'c']);
  });
});

describe('with a passphrase', () => {
  it('opens with it alone, in this process and in the one it is handed to', async () => {
    const [vault, passphrase, value] = [new Vault(home), `${secret()} é`, secret()];
    await vault.put('a', value);
    await expect(vault.protect({ kind: 'passphrase', passphrase: 'short' })).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
    });
    await vault.protect({ kind: 'passphrase', passphrase });
    expect(existsSync(file('vault.key'))).toBe(false);
    expect(vault.get('a')).toBe(value);
    const other = new Vault(home);
    expect(other.status()).toEqual({ protection: 'passphrase', locked: true });
    expect(() => other.get('a')).toThrow(expect.objectContaining({ code: 'VAULT_LOCKED' }) as Error);
    await expect(other.put('b', 'c')).rejects.toMatchObject({ code: 'VAULT_LOCKED' });
    await expect(other.unlock(`${passphrase}x`)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(other.handOver()).toBeNull();
    await other.unlock(passphrase.normalize('NFD'));
    expect(other.get('a')).toBe(value);
    const third = new Vault(home);
    third.accept(other.handOver()!);
    await vault.put('later', 'x');
    await vault.delete('a');
    expect([third.get('later'), third.get('a'), third.status().locked]).toEqual(['x', undefined, false]);
    expect(everything()).not.toContain(passphrase);
    await other.protect({ kind: 'key-file' });
    expect(new Vault(home).list()).toEqual(['later']);
    expect(other.handOver()).toBeNull();
  });
});

it('stays open as it was when its protection could not be changed', async () => {
  const [vault, value] = [new Vault(home), secret()];
  await vault.put('a', value);
  await vault.protect({ kind: 'passphrase', passphrase: secret() });
  mkdirSync(file('vault.bin.partial'));
  await expect(vault.protect({ kind: 'passphrase', passphrase: secret() })).rejects.toMatchObject({ code: 'EISDIR' });
  expect([vault.get('a'), vault.status().locked]).toEqual([value, false]);
  rmdirSync(file('vault.bin.partial'));
  await vault.protect({ kind: 'passphrase', passphrase: secret() });
  expect(vault.get('a')).toBe(value);
});

describe("with the system's keychain", () => {
  /** As safeStorage: what it seals it alone can open. */
  const keychain = (works = true): Keychain => {
    const known = new Map<string, string>();
    return {
      available: () => works,
      seal(text) {
        const sealed = randomBytes(40);
        known.set(sealed.toString('hex'), text);
        return sealed;
      },
      open(sealed) {
        const text = known.get(sealed.toString('hex'));
        if (text === undefined) throw new Error('Error while decrypting the ciphertext.');
        return text;
      },
    };
  };

  it('takes it where there is one, and another process needs what is handed over', async () => {
    const own = keychain();
    const app = new Vault(home, own);
    await app.put('a', 'b');
    expect(app.status()).toEqual({ protection: 'keychain', locked: false });
    expect(existsSync(file('vault.key'))).toBe(false);
    const gateway = new Vault(home);
    expect(() => gateway.get('a')).toThrow(/only the desktop app/);
    gateway.accept(app.handOver()!);
    expect(gateway.get('a')).toBe('b');
    await gateway.put('c', 'd');
    expect(new Vault(home, own).list()).toEqual(['a', 'c']);
    expect(() => new Vault(home, keychain()).get('a')).toThrow(
      expect.objectContaining({ code: 'VAULT_LOCKED' }) as Error,
    );
  });

  it('takes a key file where the keychain would not protect anything', async () => {
    const vault = new Vault(home, keychain(false));
    await vault.put('a', 'b');
    expect(vault.status().protection).toBe('key-file');
    await expect(vault.protect({ kind: 'keychain' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});
