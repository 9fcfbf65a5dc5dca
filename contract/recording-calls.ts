/** What the window asks about recording. */
import { z } from 'zod';
import { MAX_FOLDER, RecordingSettings, RecordingState } from './recording.js';

/** Two weeks. */
const MAX_PAUSE_MINUTES = 20_160;
const folder = z.string().min(1).max(MAX_FOLDER);
const { maxAgeDays, maxBytes, workspace } = RecordingSettings.shape;

export const RECORDING_CALLS = {
  'recording.state': { input: z.strictObject({}), output: RecordingState },
  /** Changes what is named, in one step. */
  'recording.change': {
    input: z.strictObject({
      /** null: it records again; minutes null: until then nothing is recorded. */
      pause: z
        .strictObject({ minutes: z.number().int().min(1).max(MAX_PAUSE_MINUTES).nullable() })
        .nullable()
        .optional(),
      exclude: folder.optional(),
      include: folder.optional(),
      maxAgeDays: maxAgeDays.optional(),
      maxBytes: maxBytes.optional(),
      workspace: workspace.optional(),
    }),
    output: RecordingState,
  },
} as const;
