/**
 * Deletes the oldest sessions beyond the user's limits. Rollouts and the demo have a life of their own and are not looked at;
 * sessions that a task was made from stay, so that every adapter can be walked back to what it learned from.
 */
import { ageLimit, type RecordingSettings, type SweepReport } from '../../contract/recording.js';
import type { Store } from '../store/store.js';
import { forgetPages, removeSession } from './delete-session.js';

/** A session used within this is not deleted to make room: its next request would only bring it back. */
const IN_USE_MS = 10 * 60_000;
/** Tries to clear the log, which waits for those who read it. */
const FORGET_TRIES = 20;

/** Bytes of the database that hold something; what is deleted leaves room in the file for what comes. */
export function bytesInUse({ db }: Store): number {
  const pragma = (name: string): number => db.pragma(name, { simple: true }) as number;
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}

/** `pause` is waited for after each transaction, so that recording gets its turn; it may throw to end the sweep. */
export async function sweep(
  store: Store,
  settings: RecordingSettings,
  pause: () => Promise<void>,
  now = Date.now(),
): Promise<SweepReport> {
  const report: SweepReport = {
    at: now,
    removedByAge: 0,
    removedBySize: 0,
    kept: 0,
    bytesBefore: bytesInUse(store),
    bytesAfter: 0,
  };
  const before = ageLimit(settings, now);
  const tooLarge = (): boolean => settings.maxBytes !== null && bytesInUse(store) > settings.maxBytes;
  let wasChanged = false;
  for (const { id, updatedAt } of oldestFirst(store)) {
    const old = before !== null && updatedAt < before;
    if (!old && !(tooLarge() && updatedAt < now - IN_USE_MS)) break;
    let rooted = false;
    // A sweep takes minutes: one that was used again meanwhile is left to the next.
    const turns = removeSession(store, id, (session) => {
      rooted = hasTask(store, id);
      return !rooted && session.updatedAt === updatedAt;
    });
    let turn = turns.next();
    wasChanged ||= !turn.done || turn.value;
    for (; !turn.done; turn = turns.next()) await pause();
    if (rooted) report.kept++;
    if (!turn.value) continue;
    await pause();
    if (old) report.removedByAge++;
    else report.removedBySize++;
  }
  for (let i = 0; wasChanged && i < FORGET_TRIES && !forgetPages(store); i++) await pause();
  return { ...report, bytesAfter: bytesInUse(store) };
}

function oldestFirst(store: Store): { id: string; updatedAt: number }[] {
  return store.db
    .prepare("SELECT id, updatedAt FROM session WHERE origin IN ('user', 'import') ORDER BY updatedAt, id")
    .all() as { id: string; updatedAt: number }[];
}

const hasTask = ({ db }: Store, sessionId: string): boolean =>
  db
    .prepare(
      "SELECT 1 FROM candidate WHERE sessionId = ? AND id IN (SELECT json_extract(data, '$.candidateId') FROM task) LIMIT 1",
    )
    .get(sessionId) !== undefined;
