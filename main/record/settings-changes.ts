/** Changes of the recording settings, checked; the command line and the window make the same. */
import { lstatSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { MAX_EXCLUDED, type RecordingSettings } from '../../contract/recording.js';
import { realFolder } from './folders.js';

export type SettingsChange = (settings: RecordingSettings) => RecordingSettings;

/** `ms` null: until it is resumed. */
export const pausedFor =
  (ms: number | null, now = Date.now()): SettingsChange =>
  (settings) => ({ ...settings, paused: { until: ms === null ? null : now + ms } });

export const resumed: SettingsChange = (settings) => ({ ...settings, paused: null });

/** Throws BAD_ARGUMENT for a relative path, NOT_FOUND for a folder that is not there, REFUSED for too many. */
export function excluding(dir: string): SettingsChange {
  const folder = absolute(dir);
  if (!lstatSync(folder, { throwIfNoEntry: false }))
    throw new TackroomError('NOT_FOUND', `There is no folder ${folder}.`, 'Name the folder of a project.');
  return (settings) => {
    const excluded = [...settings.excluded.filter((one) => one !== folder), folder];
    if (excluded.length > MAX_EXCLUDED)
      throw new TackroomError(
        'REFUSED',
        `At most ${MAX_EXCLUDED} folders can be excluded.`,
        'Exclude a folder that holds several of them.',
      );
    return { ...settings, excluded };
  };
}

/** By its name, or by where its links lead. Throws NOT_FOUND. */
export function including(dir: string): SettingsChange {
  const folder = absolute(dir);
  return (settings) => {
    const excluded = settings.excluded.filter((one) => one !== folder && realFolder(one) !== realFolder(folder));
    if (excluded.length === settings.excluded.length)
      throw new TackroomError(
        'NOT_FOUND',
        `${folder} is not excluded.`,
        '`tackroom recording` lists the folders that are.',
      );
    return { ...settings, excluded };
  };
}

function absolute(dir: string): string {
  if (!isAbsolute(dir))
    throw new TackroomError('BAD_ARGUMENT', `${dir} is not a whole path.`, 'Write it from the root of the disk.');
  const folder = normalize(dir);
  return folder.length > 1 ? folder.replace(/[\\/]+$/, '') : folder;
}
