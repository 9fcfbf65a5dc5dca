/** `tackroom recording …`: what is recorded, for how long, and how much of it. */
import { resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { MIN_STORE_BYTES, type RecordingState } from '../../contract/recording.js';
import { recordingState } from '../record/recording-state.js';
import { changeRecordingSettings } from '../record/settings.js';
import { excluding, including, pausedFor, resumed, type SettingsChange } from '../record/settings-changes.js';
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { sizeInBytes, wholeNumber } from './numbers.js';

export interface RecordingOptions extends GlobalOptions {
  /** true: until it is resumed. */
  pause?: string | true;
  resume?: boolean;
  exclude?: string[];
  include?: string[];
  maxAge?: string;
  maxSize?: string;
  workspace?: string;
  json?: boolean;
}

const MINUTE_MS = 60_000;
const UNITS: Record<string, number> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS };

export async function recordingCommand(options: RecordingOptions, io: CommandIo): Promise<number> {
  const changes = changesOf(options);
  return withStore(options, (store) => {
    if (changes.length > 0)
      changeRecordingSettings(store, (settings) => changes.reduce((changed, change) => change(changed), settings));
    const state = recordingState(store);
    io.stdout.write(options.json ? `${JSON.stringify(state)}\n` : stateText(state));
    return 0;
  });
}

/** Everything is checked before anything is changed. */
function changesOf(options: RecordingOptions): SettingsChange[] {
  const { pause, resume, exclude = [], include = [], maxAge, maxSize, workspace } = options;
  if (pause !== undefined && resume)
    throw new TackroomError('BAD_ARGUMENT', '--pause and --resume exclude each other.', 'Give one of them.');
  return [
    ...(pause === undefined ? [] : [pausedUntil(pause)]),
    ...(resume ? [resumed] : []),
    ...exclude.map((dir) => excluding(resolve(dir))),
    ...include.map((dir) => including(resolve(dir))),
    ...(maxAge === undefined ? [] : [agedAtMost(maxAge)]),
    ...(maxSize === undefined ? [] : [sizedAtMost(maxSize)]),
    ...(workspace === undefined ? [] : [consenting(workspace)]),
  ];
}

function pausedUntil(pause: string | true): SettingsChange {
  if (pause === true) return pausedFor(null);
  const [, count, unit] = /^(\d{1,5})(m|h|d)$/.exec(pause) ?? [];
  if (count === undefined || Number(count) === 0)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `--pause takes a time such as 30m, 8h or 2d, not ${pause}.`,
      'Without a time it is paused until --resume.',
    );
  return pausedFor(Number(count) * UNITS[unit!]!);
}

function agedAtMost(text: string): SettingsChange {
  const maxAgeDays = text === 'none' ? null : wholeNumber('--max-age', text, 1, 36_500);
  return (settings) => ({ ...settings, maxAgeDays });
}

function sizedAtMost(text: string): SettingsChange {
  const maxBytes = text === 'none' ? null : sizeInBytes('--max-size', text);
  if (maxBytes !== null && maxBytes < MIN_STORE_BYTES)
    throw new TackroomError('BAD_ARGUMENT', `--max-size must be at least 1MiB, not ${text}.`);
  return (settings) => ({ ...settings, maxBytes });
}

function consenting(text: string): SettingsChange {
  if (text !== 'on' && text !== 'off')
    throw new TackroomError('BAD_ARGUMENT', `--workspace must be on or off, not ${text}.`);
  return (settings) => ({ ...settings, workspace: text === 'on' });
}

const time = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

function stateText({ settings, recording, stored, inExcluded, lastSweep }: RecordingState): string {
  const { paused, excluded, maxAgeDays, maxBytes, workspace } = settings;
  const until = paused?.until == null ? 'until --resume' : `until ${time(paused.until)} UTC`;
  const lines = [
    `Recording    ${recording ? 'on' : `paused ${until}`}`,
    `Stored       ${stored.sessions} sessions, ${stored.requests} requests, ${megabytes(stored.bytes)} (${megabytes(stored.diskBytes)} on the disk)`,
    `Age limit    ${maxAgeDays === null ? 'none' : `${maxAgeDays} days since the last request`}`,
    `Size limit   ${maxBytes === null ? 'none' : megabytes(maxBytes)}`,
    `Workspace    ${workspace ? 'captured when a session begins' : 'not captured'}`,
    `Excluded     ${excluded.length === 0 ? 'no folder' : excluded.join(', ')}`,
    ...(inExcluded > 0
      ? [`             ${inExcluded} sessions there were recorded before; they stay until they are deleted`]
      : []),
    `Last sweep   ${
      lastSweep === null
        ? 'none yet'
        : `${time(lastSweep.at)} UTC: ${lastSweep.removedByAge + lastSweep.removedBySize} sessions deleted, ${lastSweep.kept} kept for their tasks`
    }`,
  ];
  return `${lines.join('\n')}\n`;
}
