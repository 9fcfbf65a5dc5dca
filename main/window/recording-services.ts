/** The window's calls about recording. */
import type { CallArgs, WindowServices } from '../../contract/api.js';
import type { RECORDING_CALLS } from '../../contract/recording-calls.js';
import { recordingState } from '../record/recording-state.js';
import { changeRecordingSettings } from '../record/settings.js';
import { excluding, including, pausedFor, resumed, type SettingsChange } from '../record/settings-changes.js';
import type { Store } from '../store/store.js';

const MINUTE_MS = 60_000;

export function recordingServices(store: Store): Pick<WindowServices, keyof typeof RECORDING_CALLS> {
  return {
    'recording.state': () => recordingState(store),
    'recording.change'(input) {
      const changes = changesOf(input);
      if (changes.length > 0)
        changeRecordingSettings(store, (settings) => changes.reduce((changed, change) => change(changed), settings));
      return recordingState(store);
    },
  };
}

function changesOf({ pause, exclude, include, ...plain }: CallArgs<'recording.change'>): SettingsChange[] {
  const changes: SettingsChange[] = [(settings) => ({ ...settings, ...plain })];
  if (pause === null) changes.push(resumed);
  else if (pause) changes.push(pausedFor(pause.minutes === null ? null : pause.minutes * MINUTE_MS));
  if (exclude !== undefined) changes.push(excluding(exclude));
  if (include !== undefined) changes.push(including(include));
  return changes;
}
