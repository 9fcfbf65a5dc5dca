/**
 * The vault's file: one line of JSON that says how its key is kept, then everything else sealed with that key. The line's
 * bytes are part of the seal, so no bit of the file can change unseen.
 */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { seal, unseal } from './seal.js';

/** What the data key is wrapped with comes from: */
export const Protection = z.discriminatedUnion('kind', [
  /** a file beside the vault that only its owner may read, */
  z.strictObject({ kind: z.literal('key-file') }),
  /** a passphrase (scrypt, RFC 7914; N is 2 to the cost, r 8, p 1), */
  z.strictObject({ kind: z.literal('passphrase'), salt: z.base64().max(64), costLog2: z.int().min(10).max(18) }),
  /** or the keychain of the system, which seals it for the app. */
  z.strictObject({ kind: z.literal('keychain'), sealed: z.base64().max(8192) }),
]);
export type Protection = z.infer<typeof Protection>;
export type ProtectionKind = Protection['kind'];

const FORMAT = 'tackroom-vault';
const VERSION = 1;
const Header = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  protection: Protection,
  /** The data key, sealed with the wrapping key. */
  dataKey: z.base64().max(256),
});
const AnyVersion = z.object({ format: z.literal(FORMAT), version: z.number() });
const Body = z.array(z.tuple([z.string(), z.string()]));
/** By name. */
export type Secrets = ReadonlyMap<string, string>;

const NEWLINE = 0x0a;
const WRAP_CONTEXT = Buffer.from(`${FORMAT} ${VERSION} data key`);

export interface SealedVault {
  protection: Protection;
  dataKey: Buffer;
  header: Buffer;
  body: Buffer;
}

const damaged = (cause?: unknown): TackroomError =>
  new TackroomError(
    'VAULT_DAMAGED',
    'The vault is damaged or was changed, so nothing of it is used.',
    'Put back a copy of vault.bin, or start anew: tackroom vault wipe, and enter the keys again.',
    { cause },
  );

/** Errors: VAULT_DAMAGED, UNSUPPORTED for one of a newer version. */
export function parseVault(bytes: Buffer): SealedVault {
  const end = bytes.indexOf(NEWLINE);
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.subarray(0, Math.max(end, 0)).toString('utf8'));
  } catch (cause) {
    throw damaged(cause);
  }
  const any = AnyVersion.safeParse(parsed);
  if (any.success && any.data.version > VERSION)
    throw new TackroomError('UNSUPPORTED', 'The vault was written by a newer Tackroom.', 'Update Tackroom.');
  const header = Header.safeParse(parsed);
  if (!header.success) throw damaged(header.error);
  return {
    protection: header.data.protection,
    dataKey: Buffer.from(header.data.dataKey, 'base64'),
    header: bytes.subarray(0, end),
    body: bytes.subarray(end + 1),
  };
}

/** The secrets by name; null: `wrappingKey` is not the one. Errors: VAULT_DAMAGED. */
export function openVault({ dataKey, header, body }: SealedVault, wrappingKey: Buffer): Secrets | null {
  let key: Buffer;
  try {
    key = unseal(wrappingKey, dataKey, WRAP_CONTEXT);
  } catch {
    return null;
  }
  try {
    return new Map(Body.parse(JSON.parse(unseal(key, body, header).toString('utf8'))));
  } catch (cause) {
    throw damaged(cause);
  }
}

/** Sealed with a data key that was used for nothing before. */
export function sealVault(protection: Protection, wrappingKey: Buffer, dataKey: Buffer, secrets: Secrets): Buffer {
  const header = Buffer.from(
    JSON.stringify({
      format: FORMAT,
      version: VERSION,
      protection,
      dataKey: seal(wrappingKey, dataKey, WRAP_CONTEXT).toString('base64'),
    } satisfies z.infer<typeof Header>),
  );
  const body = Buffer.from(JSON.stringify([...secrets]));
  return Buffer.concat([header, Buffer.of(NEWLINE), seal(dataKey, body, header)]);
}
