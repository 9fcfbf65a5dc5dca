/** The working directory of a session, captured for real and asked for as the window does. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import type { Origin } from '../../contract/records.js';
import type { Workspace } from '../../contract/workspace.js';
import { MAX_SHOWN_DIFF, MAX_SHOWN_DIFF_LINES } from '../../contract/workspace-calls.js';
import { Recorder } from '../../main/record/recorder.js';
import { changeRecordingSettings } from '../../main/record/settings.js';
import { captureWorkspace } from '../../main/record/workspace/capture.js';
import { putWorkspace } from '../../main/record/workspace/workspace-store.js';
import { workspaceView } from '../../main/window/workspace-services.js';
import { ask, request, say, user } from '../record/support.js';
import { connected, type Fixture, nextMessage, openFixture } from './support.js';

let fixture: Fixture;
let socket: WebSocket;
let recorder: Recorder;
beforeAll(async () => {
  fixture = await openFixture();
  recorder = new Recorder(fixture.store);
  socket = await connected(fixture.server.port);
});
afterAll(async () => {
  socket.terminate();
  await fixture.close();
});

const begin = (text: string, origin: Origin = 'user'): string =>
  recorder.record(request([ask(text)], say('Done.'), { session: { ...user, origin } })).sessionId;
const workspaceReply = async (input: unknown): Promise<unknown> => {
  const reply = nextMessage(socket);
  socket.send(JSON.stringify({ id: 1, call: 'sessions.workspace', input }));
  return (await reply).reply;
};
const allow = (workspace: boolean) => changeRecordingSettings(fixture.store, (before) => ({ ...before, workspace }));

it('gives what was captured', async () => {
  const repo = join(realpathSync(fixture.dir), 'repo');
  mkdirSync(repo);
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Dev', '-c', 'user.email=dev@example.com', ...args], {
      cwd: repo,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  git('init', '-q', '-b', 'trunk');
  for (const name of ['a.txt', 'b.txt', 'package-lock.json']) writeFileSync(join(repo, name), 'one\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  for (const name of ['a.txt', 'b.txt', 'new.txt']) writeFileSync(join(repo, name), '<b>two</b>\n');
  const captured = await captureWorkspace(repo, new AbortController().signal);
  const id = begin('captured');
  expect(putWorkspace(fixture.store, id, captured!)).toBe(true);
  expect(await workspaceReply({ id })).toEqual({
    ok: true,
    output: {
      captured: true,
      workspace: { ...captured, git: { ...captured!.git, diffHidden: 0, changedFiles: 2 } },
    },
  });
  expect(captured).toMatchObject({
    git: { commit: git('rev-parse', 'HEAD'), branch: 'trunk', untracked: ['new.txt'] },
  });
  expect(captured!.git!.diff).toContain('+<b>two</b>');
});

it('says why there is none', async () => {
  const why = (reason: string) => ({ ok: true, output: { captured: false, why: reason } });
  const mine = begin('mine');
  expect(await workspaceReply({ id: mine })).toEqual(why('off'));
  allow(true);
  expect(await workspaceReply({ id: mine })).toEqual(why('missed'));
  expect(await workspaceReply({ id: begin('theirs', 'import') })).toEqual(why('imported'));
  expect(await workspaceReply({ id: begin('ours', 'demo') })).toEqual(why('own'));
  allow(false);
  expect(await workspaceReply({ id: begin('theirs too', 'import') })).toEqual(why('imported'));
});

it('refuses what is no session, and what is no question', async () => {
  expect(await workspaceReply({ id: 'nothing' })).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } });
  for (const input of [{}, { id: '' }, { id: 7 }, { id: 'x', path: '/' }])
    expect(await workspaceReply(input)).toMatchObject({ ok: false, error: { code: 'BAD_ARGUMENT' } });
});

it('tells of a row that was damaged, in one sentence', async () => {
  const id = begin('damaged');
  fixture.store.db.prepare('INSERT INTO workspace VALUES (?, ?, ?)').run(id, 0, '{"cwd":7}');
  expect(await workspaceReply({ id })).toMatchObject({
    ok: false,
    error: { code: 'INTERNAL', message: expect.stringMatching(/^cwd is not valid: [^\n]+$/) },
  });
});

it.each([
  ['short', 'diff --git a b\n+x\n', 18],
  ['without an end of line', '+x', 2],
  ['exactly as long', `${'x'.repeat(MAX_SHOWN_DIFF - 1)}\n`, MAX_SHOWN_DIFF],
  ['one long line', 'x'.repeat(MAX_SHOWN_DIFF + 5), MAX_SHOWN_DIFF],
  ['a short line and a long one', `+x\n${'y'.repeat(MAX_SHOWN_DIFF)}`, 3],
  ['many short lines', '+\n'.repeat(MAX_SHOWN_DIFF_LINES + 3), 2 * MAX_SHOWN_DIFF_LINES],
  ['as many lines as are shown', '+\n'.repeat(MAX_SHOWN_DIFF_LINES), 2 * MAX_SHOWN_DIFF_LINES],
])('shows of a diff that is %s what fits, and counts the rest', (_, diff, shown) => {
  const git = {
    root: '/r',
    commit: null,
    branch: null,
    diff,
    diffClipped: false,
    untracked: [],
    untrackedClipped: false,
  };
  const workspace: Workspace = { cwd: '/r', capturedAt: 0, git, locks: [], tools: [], problems: [] };
  const view = workspaceView(workspace).git;
  expect(view?.diff).toBe(diff.slice(0, shown));
  expect(view?.diffHidden).toBe(diff.length - shown);
});
