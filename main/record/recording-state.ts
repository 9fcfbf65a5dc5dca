/** What is recorded, and what that has led to so far. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isPaused, type RecordingState } from '../../contract/recording.js';
import type { Store } from '../store/store.js';
import { folderAround } from './folders.js';
import { lastSweep, recordingSettings } from './settings.js';
import { bytesInUse } from './sweep.js';

const FILES = ['tackroom.db', 'tackroom.db-wal'];

export function recordingState(store: Store, now = Date.now()): RecordingState {
  const settings = recordingSettings(store);
  return {
    settings,
    recording: !isPaused(settings, now),
    stored: {
      sessions: store.session.count(),
      requests: store.request.count(),
      bytes: bytesInUse(store),
      diskBytes: FILES.reduce(
        (sum, name) => sum + (statSync(join(store.home, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
      oldest: oldestOwn(store),
    },
    inExcluded: settings.excluded.length === 0 ? 0 : sessionsIn(store, settings.excluded).length,
    lastSweep: lastSweep(store),
  };
}

const oldestOwn = (store: Store): number | null =>
  store.db.prepare("SELECT min(updatedAt) FROM session WHERE origin IN ('user', 'import')").pluck().get() as
    | number
    | null;

/** Ids of sessions on record whose working directory is in one of `folders`. */
export function sessionsIn(store: Store, folders: readonly string[]): string[] {
  const rows = store.db
    .prepare(
      `SELECT id, coalesce(json_extract(data, '$.cwd'), json_extract(data, '$.source.cwd')) AS cwd FROM session
       WHERE origin IN ('user', 'import')`,
    )
    .all() as { id: string; cwd: string | null }[];
  return rows.flatMap(({ id, cwd }) => (cwd !== null && folderAround(cwd, folders) !== undefined ? [id] : []));
}
