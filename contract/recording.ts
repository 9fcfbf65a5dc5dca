/** What is recorded is the user's decision: the settings, as the store keeps them and the window shows them. */
import { z } from 'zod';

const DAY_MS = 86_400_000;
export const MAX_EXCLUDED = 200;
/** Longest path of a folder, in characters. */
export const MAX_FOLDER = 4096;
/** A limit below it would remove a session as soon as it is recorded. */
export const MIN_STORE_BYTES = 1024 * 1024;

export const RecordingSettings = z.object({
  /** null: it records. `until`: Unix milliseconds; null: until it is resumed. */
  paused: z.object({ until: z.number().nullable() }).nullable(),
  /** Absolute folders. */
  excluded: z.array(z.string().min(1).max(MAX_FOLDER)).max(MAX_EXCLUDED),
  /** Since the last request of a session; null: kept for ever. */
  maxAgeDays: z.number().int().min(1).max(36_500).nullable(),
  /** Of the whole database; null: as large as it gets. */
  maxBytes: z.number().int().min(MIN_STORE_BYTES).nullable(),
  /** The user's consent to look at the working directory when a session begins. */
  workspace: z.boolean(),
});
export type RecordingSettings = z.infer<typeof RecordingSettings>;

/** What the last sweep did. */
export const SweepReport = z.object({
  at: z.number(),
  /** Sessions deleted because of their age, and because of the size of the store. */
  removedByAge: z.number().int().nonnegative(),
  removedBySize: z.number().int().nonnegative(),
  /** Sessions beyond a limit that stay because tasks were made from them. */
  kept: z.number().int().nonnegative(),
  /** Bytes in use before and after. */
  bytesBefore: z.number().nonnegative(),
  bytesAfter: z.number().nonnegative(),
});
export type SweepReport = z.infer<typeof SweepReport>;

/** The settings and what they lead to. */
export const RecordingState = z.object({
  settings: RecordingSettings,
  /** At the moment of asking. */
  recording: z.boolean(),
  stored: z.object({
    sessions: z.number().int().nonnegative(),
    requests: z.number().int().nonnegative(),
    /** In use, of which limits speak; and on the disk, free pages and the log included. */
    bytes: z.number().nonnegative(),
    diskBytes: z.number().nonnegative(),
    /** When the oldest session of the user's was last used; null: there is none. */
    oldest: z.number().nullable(),
  }),
  /** Sessions on record that work below an excluded folder. */
  inExcluded: z.number().int().nonnegative(),
  lastSweep: SweepReport.nullable(),
});
export type RecordingState = z.infer<typeof RecordingState>;

export const isPaused = ({ paused }: RecordingSettings, now: number): boolean =>
  paused !== null && (paused.until === null || now < paused.until);

/** Sessions whose last request is older than this are beyond the limit; null: none are. */
export const ageLimit = ({ maxAgeDays }: RecordingSettings, now: number): number | null =>
  maxAgeDays === null ? null : now - maxAgeDays * DAY_MS;
