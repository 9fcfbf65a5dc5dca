/** What the window asks about the working directory of a session. */
import { z } from 'zod';
import { Workspace } from './workspace.js';

/** Of a diff, sent to the window: UTF-16 units and lines; what is cut off is counted in `diffHidden`. */
export const MAX_SHOWN_DIFF = 100_000;
export const MAX_SHOWN_DIFF_LINES = 2000;

const count = z.number().int().nonnegative();

export const WorkspaceView = Workspace.extend({
  git: Workspace.shape.git
    .unwrap()
    .extend({
      diff: z.string().max(MAX_SHOWN_DIFF),
      diffHidden: count,
      /** Files in the whole diff as it was captured. */
      changedFiles: count,
    })
    .nullable(),
});
export type WorkspaceView = z.infer<typeof WorkspaceView>;

export const WorkspaceState = z.discriminatedUnion('captured', [
  z.object({ captured: z.literal(true), workspace: WorkspaceView }),
  z.object({
    captured: z.literal(false),
    /**
     * `imported`: it was over when it came here. `own`: a rollout or the demo, which are never captured. `off`: the user does
     * not allow it now. `missed`: allowed now, and yet there is none.
     */
    why: z.enum(['imported', 'own', 'off', 'missed']),
  }),
]);
export type WorkspaceState = z.infer<typeof WorkspaceState>;

export const WORKSPACE_CALLS = {
  'sessions.workspace': { input: z.strictObject({ id: z.string().min(1).max(200) }), output: WorkspaceState },
} as const;
