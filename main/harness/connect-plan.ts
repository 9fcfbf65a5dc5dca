/** Which bytes every file of a harness has to get, to connect it or to undo that; changes nothing. */
import { join } from 'node:path';
import { type Entry, enterAll, leaveAll } from './config-entries.js';
import { modeOf, readBytes, sameBytes, sha256, textOf } from './config-file.js';
import { type ConfigSyntax, parseConfig } from './config-text.js';
import { type ConnectRecord, type FileRecord, originalOf } from './connect-record.js';
import type { ConfigFile, ConfigPlace, GatewaySettings } from './connector.js';
import { jsonText } from './json-text.js';
import { yamlText } from './yaml-text.js';

export interface Change {
  path: string;
  before: Buffer | null;
  after: Buffer | null;
  mode: number;
}

/** The token is in the file: it is for its owner only. */
export const PRIVATE = 0o600;
/** Earlier writings that are still recognised as Tackroom's. */
const KEPT_WRITINGS = 8;

/** By the name alone, so that undoing needs nothing but the record. */
const syntaxOf = (name: string): ConfigSyntax => (/\.ya?ml$/i.test(name) ? yamlText : jsonText);

/** What the file would hold had Tackroom never entered it. Errors: REFUSED on a conflict. */
function withoutUs(path: string, bytes: Buffer | null, record: FileRecord | undefined): Buffer | null {
  if (!record || bytes === null) return bytes;
  const original = originalOf(record);
  if (sameBytes(bytes, original)) return bytes;
  if (record.written.includes(sha256(bytes))) return original;
  const syntax = syntaxOf(record.name);
  const [text, before] = [textOf(path, bytes), original === null ? '' : textOf(path, original)];
  const left = leaveAll(syntax, path, text, before, record.entries);
  // A file that Tackroom made and that only held its entries goes with them.
  const empty = original === null && Object.keys(parseConfig(syntax, path, left)).every((key) => key === '$schema');
  return empty ? null : Buffer.from(left);
}

export function planUndo(dir: string, record: FileRecord): Change {
  const path = join(dir, record.name);
  const before = readBytes(path);
  return {
    path,
    before,
    after: withoutUs(path, before, record),
    mode: record.mode ?? (before === null ? PRIVATE : modeOf(path)),
  };
}

/** `entries` with what earlier runs wrote at the same paths. */
function withEarlier(entries: Entry[], earlier: readonly Entry[]): Entry[] {
  return entries.map((entry) => {
    const same = earlier.find(({ path, kind }) => path.join('\0') === entry.path.join('\0') && kind === entry.kind);
    return { ...entry, ours: [...entry.ours, ...(same?.ours ?? [])].slice(0, KEPT_WRITINGS) };
  });
}

function planFile(
  dir: string,
  file: ConfigFile,
  settings: GatewaySettings,
  known: FileRecord | undefined,
): { change: Change; record: FileRecord } {
  const path = join(dir, file.name);
  const before = readBytes(path);
  const original = withoutUs(path, before, known);
  const text = original === null ? file.initial : textOf(path, original);
  const entries = file.entries(parseConfig(file.syntax, path, text), settings);
  const after = Buffer.from(enterAll(file.syntax, path, text, entries));
  const base64 = original?.toString('base64') ?? null;
  const mode = known?.mode ?? (before === null ? PRIVATE : modeOf(path));
  // Earlier writings stand for the original of their time only.
  const earlier = known && known.original === base64 ? known.written : [];
  const record: FileRecord = {
    name: file.name,
    mode: original === null ? null : mode,
    original: base64,
    written: [sha256(after), ...earlier].slice(0, KEPT_WRITINGS),
    entries: withEarlier(entries, known?.entries ?? []),
  };
  return { change: { path, before, after, mode: PRIVATE }, record };
}

/** Changes and the record that undoes them. Errors: REFUSED for what cannot be edited, or on a conflict. */
export function planConnect(
  { dir, files }: ConfigPlace,
  settings: GatewaySettings,
  known: ConnectRecord | null,
): { changes: Change[]; files: FileRecord[] } {
  const planned = files.map((file) =>
    planFile(
      dir,
      file,
      settings,
      known?.files.find(({ name }) => name === file.name),
    ),
  );
  // Files that an earlier run entered and that the harness would no longer read first.
  const others = (known?.files ?? []).filter(({ name }) => !files.some((file) => file.name === name));
  return {
    changes: [...planned.map(({ change }) => change), ...others.map((record) => planUndo(dir, record))],
    files: [...planned.map(({ record }) => record), ...others],
  };
}
