import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import { RecordingState } from '../../contract/recording.js';
import type { CommandIo } from '../../main/cli/io.js';
import { type RecordingOptions, recordingCommand } from '../../main/cli/recording.js';
import { Recorder } from '../../main/record/recorder.js';
import { openStore } from '../../main/store/store.js';
import { ask, request, say, temporaryHome } from './support.js';

let folder: ReturnType<typeof temporaryHome>;
beforeEach(() => {
  folder = temporaryHome();
});
afterEach(() => folder.remove());

async function run(options: RecordingOptions): Promise<string> {
  const stdout = new PassThrough();
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const io: CommandIo = { stdin, stdout, stderr, interactive: false, signal: new AbortController().signal };
  expect(await recordingCommand({ home: folder.home, ...options }, io)).toBe(0);
  return String(stdout.read() ?? '');
}
const state = async (options: RecordingOptions = {}): Promise<RecordingState> =>
  RecordingState.parse(JSON.parse(await run({ ...options, json: true })));

it('changes what is named and keeps the rest', async () => {
  const project = join(realpathSync(folder.home), 'project');
  mkdirSync(project);
  const now = Date.now();
  const paused = await state({ pause: '30m', exclude: [`${project}/`], maxAge: '90', maxSize: '5GB', workspace: 'on' });
  expect(paused.recording).toBe(false);
  expect(paused.settings.paused?.until).toBeGreaterThanOrEqual(now + 30 * 60_000);
  expect(paused.settings).toMatchObject({
    excluded: [project],
    maxAgeDays: 90,
    maxBytes: 5 * 2 ** 30,
    workspace: true,
  });
  expect(await run({})).toMatch(/^Recording {4}paused until \d{4}-/);
  const resumed = await state({ resume: true, include: [project], maxAge: 'none' });
  expect(resumed).toMatchObject({ recording: true });
  expect(resumed.settings).toEqual({
    paused: null,
    excluded: [],
    maxAgeDays: null,
    maxBytes: 5 * 2 ** 30,
    workspace: true,
  });
  expect((await state({ pause: true })).settings.paused).toEqual({ until: null });
});

it('counts what is stored, and what lies in an excluded folder', async () => {
  const store = openStore(folder.home);
  const prompt = { role: 'system' as const, content: `Current working directory: ${folder.home}/a` };
  new Recorder(store).record(request([prompt, ask('Hello')], say('Hi')));
  store.close();
  const { stored, inExcluded } = await state({ exclude: [folder.home] });
  expect(stored).toMatchObject({ sessions: 1, requests: 1 });
  expect(stored.diskBytes).toBeGreaterThan(0);
  expect(inExcluded).toBe(1);
});

it('changes nothing when one of the options is wrong', async () => {
  for (const wrong of [
    { pause: '3x' },
    { pause: '0m' },
    { pause: true as const, resume: true },
    { exclude: [join(folder.home, 'absent')] },
    { include: [folder.home] },
    { maxAge: '0' },
    { maxSize: '12' },
    { workspace: 'maybe' },
  ]) {
    await expect(run({ workspace: 'on', ...wrong })).rejects.toThrow(TackroomError);
    expect((await state()).settings).toMatchObject({ paused: null, excluded: [], workspace: false });
  }
});
