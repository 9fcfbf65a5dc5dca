/** `tackroom sanitize`: keeps the map of a session that was cleaned, puts the originals back, and forgets the maps. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { TackroomError, toErrorShape } from '../../../contract/errors.js';
import { unlockVault } from '../../cli/open-vault.js';
import { defaultHome, openHome } from '../../services/paths.js';
import { Vault } from '../../vault/vault.js';
import { keyFileOf } from '../../vault/wrapping-key.js';
import { Output } from '../output.js';
import type { Pseudonyms } from '../pseudonyms.js';
import type { MapRecorder } from './map-recorder.js';
import { MapStore, told } from './map-store.js';
import { restore } from './restore.js';

interface Io {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  interactive?: boolean;
}
interface Options {
  file: string;
  home?: string;
  /** Id; false: none is kept. */
  map?: string | false;
}

/** A vault that a passphrase protects opens with the one of the environment; `ask`: or with one that is typed. */
async function openVault(home: string, io: Io, ask: boolean): Promise<Vault> {
  const interactive = ask && io.interactive === true;
  return unlockVault(new Vault(home), { ...io, interactive, signal: new AbortController().signal });
}

/** Says on stderr which map it is. What cannot be kept is said too, and no reason to fail: the copy is clean. */
export async function keepMap(
  recorder: MapRecorder,
  pseudonyms: Pseudonyms,
  options: Pick<Options, 'home'>,
  io: Io,
): Promise<void> {
  const { clean, map, isEmpty } = recorder.finish(pseudonyms);
  if (isEmpty) return;
  try {
    if (!map) throw new TackroomError('REFUSED', 'The session has too many changed lines.', 'Clean it in parts.');
    const { home } = openHome(defaultHome(options.home));
    const vault = await openVault(home, io, false);
    const isNew = vault.status().protection === null;
    const id = await new MapStore(home, vault).keep(clean, map);
    io.stderr.write(`The originals are kept here, encrypted, as map ${id}; --restore puts them back.\n`);
    if (isNew && vault.status().protection === 'key-file')
      io.stderr.write(
        `Its key is protected by the file ${keyFileOf(home)}: whoever can read this user's files can open it. To change that: tackroom vault protect passphrase.\n`,
      );
  } catch (error) {
    const { message, hint } = toErrorShape(error);
    io.stderr.write(`No map was kept, so --restore will not work: ${message}${hint ? ` ${hint}` : ''}\n`);
  }
}

/** Errors: NOT_FOUND where no map belongs to the file, VAULT_LOCKED, VAULT_DAMAGED, UNAUTHORIZED, IO. */
export async function restoreCommand(options: Options, io: Io): Promise<number> {
  const clean = options.file === '-' ? await readAll(io.stdin) : readFileSync(options.file);
  const { home } = openHome(defaultHome(options.home));
  const store = new MapStore(home, await openVault(home, io, options.file !== '-'));
  const hash = createHash('sha256').update(clean).digest('hex');
  const id = options.map || idOf(store, hash);
  const map = store.open(id);
  const isWhole = store.list().some((one) => one.id === id && one.clean === hash);
  const { bytes, edited, unknown, unclear } = restore(clean, map, isWhole);
  if (isWhole && bytes.length !== map.length)
    throw new TackroomError('INTERNAL', 'What was put back is not what was cleaned, so nothing is written.');
  const output = new Output(io.stdout);
  try {
    await output.write(bytes);
    await output.end();
  } finally {
    output.close();
  }
  if (!isWhole) io.stderr.write(`The file was edited: ${edited} of its lines by what their stand-ins stand for.\n`);
  if (unclear > 0)
    io.stderr.write(
      `${unclear} lines have several originals that were cleaned alike; what they have in common is put back, the rest is not.\n`,
    );
  if (unknown > 0) io.stderr.write(`${unknown} stand-ins are not in this map and stay.\n`);
  return 0;
}

function idOf(store: MapStore, hash: string): string {
  const maps = store.list();
  const found = maps.find(({ clean }) => clean === hash);
  if (found) return found.id;
  throw new TackroomError(
    'NOT_FOUND',
    'No map belongs to this file: it was edited since it was cleaned, or cleaned elsewhere.',
    `Say which map it is: --map ID, as \`sanitize\` told it. Maps here: ${told(maps)}.`,
  );
}

export async function forgetMapsCommand(options: Pick<Options, 'home'>, io: Io): Promise<number> {
  const { home } = openHome(defaultHome(options.home));
  const count = await new MapStore(home, new Vault(home)).forget();
  io.stdout.write(`${count} maps are deleted for good.\n`);
  return 0;
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}
