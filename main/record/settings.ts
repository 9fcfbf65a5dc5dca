/** The recording settings in the store: read at each use, so that gateway, window and command line always agree. */
import { RecordingSettings, SweepReport } from '../../contract/recording.js';
import type { Store } from '../store/store.js';

const SETTINGS_KEY = 'recording';
const SWEEP_KEY = 'recording.sweep';

export const DEFAULT_SETTINGS: RecordingSettings = {
  paused: null,
  excluded: [],
  maxAgeDays: null,
  maxBytes: null,
  workspace: false,
};

/** Settings that nobody can read any more pause the recording: what was left out must not be recorded by accident. */
const UNREADABLE: RecordingSettings = { ...DEFAULT_SETTINGS, paused: { until: null } };

export function recordingSettings(store: Store): RecordingSettings {
  const kept = readSetting(store, SETTINGS_KEY);
  if (kept === undefined) return DEFAULT_SETTINGS;
  const parsed = RecordingSettings.safeParse(kept);
  return parsed.success ? parsed.data : UNREADABLE;
}

/** Reads, changes and writes in one transaction; returns what now holds. Throws for settings out of bounds. */
export function changeRecordingSettings(
  store: Store,
  change: (settings: RecordingSettings) => RecordingSettings,
): RecordingSettings {
  return store.transaction(() => {
    const settings = RecordingSettings.parse(change(recordingSettings(store)));
    store.setSetting(SETTINGS_KEY, settings);
    return settings;
  });
}

export function lastSweep(store: Store): SweepReport | null {
  return SweepReport.safeParse(readSetting(store, SWEEP_KEY)).data ?? null;
}

export const rememberSweep = (store: Store, report: SweepReport): void => store.setSetting(SWEEP_KEY, report);

/** null: damaged. */
function readSetting(store: Store, key: string): unknown {
  try {
    return store.setting(key);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
