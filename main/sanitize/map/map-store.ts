/**
 * The maps of this home: a file each, sealed with a key that lies in the vault. They are bounded in age, number and size; the oldest
 * go first. Nothing but the maps' ids, times and the hashes of what was given out can be read without the key.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../../contract/errors.js';
import { makeFolder } from '../../services/paths.js';
import { withLock } from '../../services/process-lock.js';
import { readPrivate, removePrivate, writePrivate } from '../../vault/private-file.js';
import { newKey, seal, unseal } from '../../vault/seal.js';
import type { Vault } from '../../vault/vault.js';
import { decodeMap, encodeMap, type OpenedMap, type RestoreMap } from './restore-map.js';

const KEY_NAME = 'sanitize/maps';
const LOCK_WAIT_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const LIMITS = { ageMs: 90 * DAY_MS, maps: 200, bytes: 512 << 20 };
const NEWLINE = 10;
const MAX_HEADER = 4096;
const ID = /^[0-9a-f]{12}$/;
const SUFFIX = '.map';

const Header = z.strictObject({
  format: z.literal('tackroom-map'),
  version: z.literal(1),
  id: z.string().regex(ID),
  createdAt: z.int().nonnegative(),
  /** sha256 of the cleaned output. */
  clean: z.string().regex(/^[0-9a-f]{64}$/),
});
type Header = z.infer<typeof Header>;

export class MapStore {
  readonly #folder: string;

  constructor(
    private readonly home: string,
    private readonly vault: Vault,
    private readonly limits = LIMITS,
  ) {
    this.#folder = join(home, 'sanitize', 'maps');
  }

  /** On the disk when it returns: its id. Errors: those of the vault, IO. */
  async keep(clean: string, map: RestoreMap): Promise<string> {
    const body = encodeMap(map);
    const id = randomBytes(6).toString('hex');
    const header: Header = { format: 'tackroom-map', version: 1, id, createdAt: Date.now(), clean };
    const line = Buffer.from(JSON.stringify(header));
    makeFolder(this.#folder);
    await this.#locked('keeping a map', async () => {
      const sealed = seal(await this.#madeKey(), body, line);
      writePrivate(this.#pathOf(id), Buffer.concat([line, Buffer.of(NEWLINE), sealed]));
      this.#prune();
    });
    return id;
  }

  /** Newest first. */
  list(): Header[] {
    if (!existsSync(this.#folder)) return [];
    const headers = readdirSync(this.#folder)
      .filter((name) => name.endsWith(SUFFIX) && ID.test(name.slice(0, -SUFFIX.length)))
      .flatMap((name) => {
        const start = firstBytes(join(this.#folder, name));
        return headerOf(start, name.slice(0, -SUFFIX.length))?.header ?? [];
      });
    return headers.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
  }

  /** Errors: NOT_FOUND, those of the vault, VAULT_DAMAGED. */
  open(id: string): OpenedMap {
    const file = ID.test(id) ? this.#read(id) : null;
    if (!file)
      throw new TackroomError(
        'NOT_FOUND',
        `There is no map ${JSON.stringify(id.slice(0, 40))} in this home.`,
        `A map stays on the machine that cleaned the session. Maps here: ${told(this.list())}.`,
      );
    const key = this.vault.get(KEY_NAME);
    if (key === undefined) throw otherKey(id);
    let body: Buffer;
    try {
      body = unseal(Buffer.from(key, 'base64'), file.sealed, file.line);
    } catch (cause) {
      throw otherKey(id, cause);
    }
    return decodeMap(body);
  }

  /** All of them, for good, also such that nobody can open any more. Returns how many there were. */
  async forget(): Promise<number> {
    if (!existsSync(this.#folder)) return 0;
    return this.#locked('forgetting the maps', () => {
      const names = readdirSync(this.#folder).filter((name) => name.includes(SUFFIX));
      for (const name of names) removePrivate(join(this.#folder, name));
      return names.filter((name) => name.endsWith(SUFFIX)).length;
    });
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${id}${SUFFIX}`);
  }

  /** null: there is none, or it is no map. */
  #read(id: string): { header: Header; line: Buffer; sealed: Buffer } | null {
    const bytes = readPrivate(this.#pathOf(id));
    const found = bytes && headerOf(bytes, id);
    return found ? { ...found, sealed: bytes.subarray(found.line.length + 1) } : null;
  }

  /** What is too old, too many or too much goes, and what a kill left of a writing. */
  #prune(): void {
    const now = Date.now();
    let bytes = 0;
    const ids = new Set<string>();
    for (const { id, createdAt } of this.list()) {
      bytes += statSync(this.#pathOf(id)).size;
      const { ageMs, maps, bytes: most } = this.limits;
      if (now - createdAt <= ageMs && ids.size < maps && bytes <= most) ids.add(id);
    }
    for (const name of readdirSync(this.#folder))
      if (name.includes(SUFFIX) && !(name.endsWith(SUFFIX) && ids.has(name.slice(0, -SUFFIX.length))))
        removePrivate(join(this.#folder, name));
  }

  #locked<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    return withLock(join(this.home, 'maps.lock'), { what, waitMs: LOCK_WAIT_MS }, work);
  }

  async #madeKey(): Promise<Buffer> {
    const kept = this.vault.get(KEY_NAME);
    if (kept !== undefined) return Buffer.from(kept, 'base64');
    const key = newKey();
    await this.vault.put(KEY_NAME, key.toString('base64'));
    return key;
  }
}

/** null: they are no map's of this id. */
function headerOf(bytes: Buffer, id: string): { header: Header; line: Buffer } | null {
  const end = bytes.subarray(0, MAX_HEADER).indexOf(NEWLINE);
  if (end < 0) return null;
  const line = bytes.subarray(0, end);
  try {
    const header = Header.parse(JSON.parse(line.toString()));
    return header.id === id ? { header, line } : null;
  } catch {
    return null;
  }
}

/** Of a file of its own; links are not followed. Empty where another process has just deleted it. */
function firstBytes(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const bytes = Buffer.alloc(MAX_HEADER);
    return bytes.subarray(0, readSync(file, bytes, 0, MAX_HEADER, 0));
  } finally {
    closeSync(file);
  }
}

const SHOWN = 5;
export const told = (maps: readonly Header[]): string =>
  maps
    .slice(0, SHOWN)
    .map(({ id, createdAt }) => `${id} (${new Date(createdAt).toISOString().slice(0, 16).replace('T', ' ')})`)
    .join(', ') || 'none';

const otherKey = (id: string, cause?: unknown): TackroomError =>
  new TackroomError(
    'VAULT_DAMAGED',
    `The map ${id} cannot be opened: it was changed, or the vault has another key than it was sealed with.`,
    'Put back a copy of vault.bin, or delete the maps: tackroom sanitize --forget-maps.',
    { cause },
  );
