import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ChatMessage } from '../../main/engine/protocol.js';
import { type NewRequest, Recorder } from '../../main/record/recorder.js';
import { changeRecordingSettings, recordingSettings } from '../../main/record/settings.js';
import { directoriesIn } from '../../main/record/working-directory.js';
import { openStore, type Store } from '../../main/store/store.js';
import { ask, request, say, system, temporaryHome, user } from './support.js';

let folder: ReturnType<typeof temporaryHome>;
let store: Store;
let recorder: Recorder;
beforeEach(() => {
  folder = temporaryHome();
  store = openStore(folder.home);
  recorder = new Recorder(store);
});
afterEach(() => {
  store.close();
  folder.remove();
});

const TABLES = ['session', 'request', 'toolCall', 'message', 'message_node', 'message_text', 'tools', 'workspace'];
const rowsOf = (): number =>
  TABLES.reduce(
    (sum, table) => sum + (store.db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n,
    0,
  );
const stored = (messages: ChatMessage[], more: Partial<NewRequest> = {}): boolean =>
  recorder.recordAll([request(messages, say('Done.'), more)])[0] !== null;
const worksIn = (dir: string): ChatMessage => ({ role: 'system', content: `You are pi.\n\n<cwd>\n${dir}\n</cwd>` });
const named = (id: string) => ({ session: { ...user, harness: 'opencode' as const, harnessSessionId: id } });
const exclude = (...excluded: string[]): unknown =>
  changeRecordingSettings(store, (settings) => ({ ...settings, excluded }));
const pause = (until: number | null): unknown =>
  changeRecordingSettings(store, (settings) => ({ ...settings, paused: { until } }));

it('reads the working directory from what each harness writes', () => {
  const said = {
    'a <cwd>\n/home/dev/proj\n</cwd>': ['/home/dev/proj'],
    'Current date: 2026-11-30\nCurrent working directory: /home/dev/proj': ['/home/dev/proj'],
    '<env>\n  Working directory: /home/dev/proj\n  Workspace root folder: /home/dev\n': ['/home/dev/proj'],
    ' - Primary working directory: C:\\work\\proj': ['C:\\work\\proj'],
    'The working directory of the tool. Working directory: it depends': [],
    '<cwd>relative</cwd>': [],
    '<cwd>/a</cwd> <cwd>/a</cwd> <cwd>/b</cwd>': ['/a', '/b'],
  };
  for (const [text, dirs] of Object.entries(said)) expect([text, directoriesIn(text)]).toEqual([text, dirs]);
});

it('leaves nothing of what was asked during a pause, whether it ends by itself or by the user', () => {
  const conversation = [system, ask('A secret plan')];
  expect(stored([system, ask('Before')])).toBe(true);
  const before = rowsOf();
  const [clock] = [request([], say('')).createdAt];
  pause(clock + 100_000);
  expect(stored(conversation)).toBe(false);
  expect(stored([system, ask('Named')], named('ses_1'))).toBe(false);
  expect(rowsOf()).toBe(before);
  pause(clock);
  expect(stored([system, ask('After')])).toBe(true);
  const after = rowsOf();
  // It repeats what was said during the pause.
  expect(stored([...conversation, say('Done.'), ask('Go on')])).toBe(false);
  expect(stored([system, ask('Named'), say('Done.'), ask('Go on')], named('ses_1'))).toBe(false);
  expect(rowsOf()).toBe(after);
  expect(stored([system, ask('Named')], named('ses_2'))).toBe(true);
  pause(null);
  expect(stored([system, ask('Paused until resumed')])).toBe(false);
  changeRecordingSettings(store, (settings) => ({ ...settings, paused: null }));
  expect(stored([system, ask('Resumed')])).toBe(true);
});

it('leaves out what began or ended while it was paused or its folder excluded', () => {
  const resume = (): unknown => changeRecordingSettings(store, (settings) => ({ ...settings, paused: null }));
  const across = (messages: ChatMessage[], meanwhile: () => unknown): boolean => {
    const began = recorder.begin(messages);
    meanwhile();
    return stored(messages, { began });
  };
  const conversation = [system, ask('Begun in a pause')];
  const fork = [...conversation, say('Done.'), ask('Go on')];
  pause(null);
  let forked = true;
  const resumeAndFork = (): void => {
    resume();
    forked = stored(fork, named('ses_1'));
  };
  expect([across(conversation, resumeAndFork), forked]).toEqual([false, false]);
  expect(across([system, ask('Ended in a pause')], () => pause(null))).toBe(false);
  resume();
  expect(across([system, ask('Neither')], () => undefined)).toBe(true);
  exclude('/home/dev/private');
  expect(across([worksIn('/home/dev/private'), ask('x')], () => exclude())).toBe(false);
  expect(across([worksIn('/home/dev/private'), ask('y')], () => exclude('/home/dev/private'))).toBe(false);
  expect(across([ask('Names no folder')], () => exclude())).toBe(false);
});

it('knows a fork under another id, also of what was left out after the pause', () => {
  const conversation = [system, ask('A secret plan'), say('Done.'), ask('Go on')];
  const summedUp = [system, ask('In short: the secret plan')];
  pause(null);
  expect(stored(conversation.slice(0, 2), named('ses_1'))).toBe(false);
  changeRecordingSettings(store, (settings) => ({ ...settings, paused: null }));
  expect(stored(conversation, named('ses_2'))).toBe(false);
  expect(stored(summedUp, named('ses_2'))).toBe(false);
  expect(stored([...summedUp, say('Done.'), ask('Fork')], named('ses_3'))).toBe(false);
  // The same words in a new session are no fork.
  expect(stored(conversation.slice(0, 2), named('ses_4'))).toBe(true);
  expect(stored(conversation, named('ses_4'))).toBe(true);
});

it('records rollouts and the demo whatever is paused or excluded', () => {
  pause(null);
  exclude('/');
  for (const origin of ['rollout', 'demo'] as const)
    expect(stored([worksIn('/home/dev'), ask(origin)], { session: { ...user, origin } })).toBe(true);
});

it('leaves out what works in an excluded folder or below it, by any way that leads there', () => {
  const real = realpathSync(folder.home);
  const project = join(real, 'private');
  mkdirSync(join(project, 'deep'), { recursive: true });
  mkdirSync(join(real, 'private-not'));
  symlinkSync(project, join(real, 'link'));
  exclude(project);
  for (const dir of [project, join(project, 'deep'), join(real, 'link'), join(real, 'link', 'deep'), `${project}/`])
    expect([dir, stored([worksIn(dir), ask('x')])]).toEqual([dir, false]);
  expect(rowsOf()).toBe(0);
  for (const dir of [join(real, 'private-not'), real, '/nowhere/private'])
    expect([dir, stored([worksIn(dir), ask(dir)])]).toEqual([dir, true]);
  expect(store.session.list().map(({ cwd }) => cwd)).toContain(join(real, 'private-not'));
  exclude(join(real, 'link'));
  expect(stored([worksIn(join(project, 'deep')), ask('through the link')])).toBe(false);
});

it('with a folder excluded, stores what names no folder only where its session is known to work elsewhere', () => {
  exclude('/home/dev/private');
  const title = [{ role: 'system' as const, content: 'You are a title generator.' }, ask('x')];
  expect(stored(title, named('ses_1'))).toBe(false);
  expect(stored([worksIn('/home/dev/open'), ask('x')], named('ses_1'))).toBe(true);
  expect(stored(title, named('ses_1'))).toBe(true);
  expect(stored([worksIn('/home/dev/private'), ask('x')], named('ses_2'))).toBe(false);
  expect(stored(title, named('ses_2'))).toBe(false);
  expect(stored([worksIn('/home/dev/open'), ask('x')], named('ses_2'))).toBe(false);
  exclude();
  expect(stored(title, named('ses_3'))).toBe(true);
});

it('pauses when its settings cannot be read', () => {
  for (const damaged of ['{"paused":0}', '{', '[]']) {
    store.db.prepare("INSERT OR REPLACE INTO setting (key, value) VALUES ('recording', ?)").run(damaged);
    expect(recordingSettings(store).paused).toEqual({ until: null });
    expect(stored([system, ask(damaged)])).toBe(false);
  }
  changeRecordingSettings(store, (settings) => ({ ...settings, paused: null }));
  expect(stored([system, ask('mended')])).toBe(true);
});

it('knows in one commit what came before in it', () => {
  exclude('/home/dev/secret');
  const begins = request([worksIn('/home/dev/open'), ask('Do it')], say('Done.'), named('ses_9'));
  const sumsUp = request([ask('Sum it up')], say('A summary.'), named('ses_9'));
  expect(recorder.recordAll([begins, sumsUp]).map((one) => one !== null)).toEqual([true, true]);
});
