/** How a working directory looked when a session began. */
import { z } from 'zod';

/** Of a diff; more of it is cut. */
export const MAX_DIFF_BYTES = 1024 * 1024;
export const MAX_UNTRACKED = 200;
const name = z.string().max(4096);

export const Workspace = z.object({
  cwd: name,
  /** Unix milliseconds. */
  capturedAt: z.number(),
  /** null: the directory is in no repository that can be read. */
  git: z
    .object({
      root: name,
      /** null: nothing is committed yet. */
      commit: z.string().max(100).nullable(),
      /** null: no branch is checked out. */
      branch: name.nullable(),
      /** Against the commit, files that git knows. */
      diff: z.string(),
      diffClipped: z.boolean(),
      /** Names only. */
      untracked: z.array(name).max(MAX_UNTRACKED),
      untrackedClipped: z.boolean(),
    })
    .nullable(),
  /** Lock files of package managers, in the directory and at the root of its repository. */
  locks: z
    .array(z.object({ path: name, bytes: z.number().int().nonnegative(), sha256: z.string().length(64) }))
    .max(64),
  /** As the gateway's own PATH finds them. */
  tools: z.array(z.object({ name: z.string(), version: z.string().max(200) })).max(32),
  /** What could not be looked at, and why. */
  problems: z.array(z.string().max(300)).max(32),
});
export type Workspace = z.infer<typeof Workspace>;
