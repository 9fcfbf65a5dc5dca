/**
 * Imports the sessions of other programs' files, a short one in one transaction, a long one in several. A source that did not
 * change since it was read to its end is not read again.
 */
import { z } from 'zod';
import type { Session } from '../../contract/records.js';
import type { SessionReader, SessionUnit, SourceFile } from '../harness/sessions/session-writer.js';
import { Unreadable } from '../harness/sessions/session-writer.js';
import type { Store } from '../store/store.js';
import { Batches } from './batches.js';
import { deleteSession } from './delete-session.js';
import { ImportWriter, type Written } from './import-writer.js';
import { MessageStore } from './message-store.js';
import { RecordedRequests } from './recorded-requests.js';
import { sourceFiles, sourceRoot } from './source-files.js';

export interface SkippedPart {
  path: string;
  /** null: not of one line. */
  line: number | null;
  reason: string;
}

export interface ImportedSession {
  session: Session;
  /** Requests that were not there before. */
  added: number;
}

export interface ImportReport {
  sessions: ImportedSession[];
  skipped: SkippedPart[];
  /** Files that hold sessions, damaged ones too. */
  files: number;
}

/** Reported for one session; the rest is counted. */
const MAX_SKIPS = 100;
/** Characters of a reason, which may quote the source. */
const MAX_REASON = 300;
/** Part of every fingerprint: a reader that learned something reads again. */
const READERS_VERSION = 2;

const Skips = z.array(z.object({ line: z.number().nullable(), reason: z.string() }));
type Skips = z.infer<typeof Skips>;

/**
 * `readers`: the first that recognises a file reads it; one alone reads every file it can. `onProgress` may wait, and ends
 * the import by throwing. `isShared`: whether others write to the store, who then get their turn. Errors: NOT_FOUND; those of our own database.
 */
export async function importSessions(
  store: Store,
  path: string,
  readers: readonly SessionReader[],
  onProgress: (sessions: number) => void | Promise<void> = () => {},
  isShared: () => boolean = () => false,
): Promise<ImportReport> {
  const report: ImportReport = { sessions: [], skipped: [], files: 0 };
  const messages = new MessageStore(store.db);
  const into: Target = { store, messages, recorded: new RecordedRequests(store, messages), isShared };
  const seen = new Map<string, ImportedSession>();
  const skip = (at: string, line: number | null, reason: string): void => {
    report.skipped.push({ path: at, line, reason: reason.slice(0, MAX_REASON) });
  };
  const root = sourceRoot(path);
  for (const file of sourceFiles(root, skip)) {
    const reader = readers.find((one) => recognises(one, file));
    if (!reader) {
      if (file.path === root || /\.(?:db|sqlite3?)$/i.test(file.path))
        skip(file.path, null, 'holds no sessions that are known here');
      continue;
    }
    report.files++;
    try {
      for (const unit of reader.units(file)) {
        const found = importUnit(into, file, unit, skip);
        if (found) seen.set(found.session.id, merged(seen.get(found.session.id), found));
        await onProgress(seen.size);
      }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      skip(file.path, null, error.message);
    }
  }
  report.sessions = [...seen.values()];
  return report;
}

function recognises(reader: SessionReader, file: SourceFile): boolean {
  try {
    return reader.recognises(file);
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}

/** Two files may hold one session, such as a copy and what it grew to. */
const merged = (before: ImportedSession | undefined, now: ImportedSession): ImportedSession => ({
  session: now.session,
  added: (before?.added ?? 0) + now.added,
});

interface Target {
  store: Store;
  messages: MessageStore;
  recorded: RecordedRequests;
  isShared(): boolean;
}

function importUnit(
  { store, messages, recorded, isShared }: Target,
  file: SourceFile,
  unit: SessionUnit,
  skip: (path: string, line: number | null, reason: string) => void,
): ImportedSession | undefined {
  const fingerprint = `${READERS_VERSION}:${unit.fingerprint}`;
  const before = store.db
    .prepare('SELECT sessionId, skipped FROM import_source WHERE key = ? AND fingerprint = ?')
    .get(unit.key, fingerprint) as { sessionId: string | null; skipped: string } | undefined;
  const tell = (skips: Skips): void => {
    for (const { line, reason } of skips) skip(file.path, line, reason);
  };
  const known = before?.sessionId == null ? undefined : store.session.get(before.sessionId);
  if (before && (known || before.sessionId === null)) {
    tell(Skips.parse(JSON.parse(before.skipped)));
    return known && { session: known, added: 0 };
  }
  const skips = new SkipList();
  const batches = new Batches(store.db, isShared);
  const writer = new ImportWriter(store, messages, file.path, recorded, batches);
  batches.begin();
  try {
    unit.read(writer, (line, reason) => skips.add(line, reason));
    const written = writer.finish();
    if (written && written.recorded > 0) skips.add(null, recordedReason(written));
    store.db
      .prepare(
        'INSERT OR REPLACE INTO import_source (key, path, sessionId, fingerprint, skipped) VALUES (?, ?, ?, ?, ?)',
      )
      .run(unit.key, file.path, written?.session.id ?? null, fingerprint, JSON.stringify(skips.list()));
    batches.end();
    tell(skips.list());
    return written;
  } catch (error) {
    batches.rollBack();
    // One session's trouble is not that of the others; what was written of it is taken back.
    if (!(error instanceof Unreadable || error instanceof RangeError)) throw error;
    if (batches.committed && writer.madeSession !== undefined) deleteSession(store, writer.madeSession);
    skip(file.path, null, error instanceof Unreadable ? error.message : 'nested too deeply');
    return undefined;
  }
}

function recordedReason({ recorded, recordedIn, session, added }: Written): string {
  const what = `${recorded} ${recorded === 1 ? 'request is' : 'requests are'} on record already, in ${recordedIn.slice(0, 5).join(', ')}`;
  return recordedIn.includes(session.id) || added === 0 ? what : `${what}; the others are imported`;
}

class SkipList {
  readonly #skips: Skips = [];
  #more = 0;

  add(line: number | null, reason: string): void {
    if (this.#skips.length < MAX_SKIPS) this.#skips.push({ line, reason });
    else this.#more++;
  }

  list(): Skips {
    return this.#more === 0 ? this.#skips : [...this.#skips, { line: null, reason: `${this.#more} more skipped` }];
  }
}
