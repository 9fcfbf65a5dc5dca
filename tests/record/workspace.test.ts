import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_DIFF_BYTES } from '../../contract/workspace.js';
import { Recorder } from '../../main/record/recorder.js';
import { captureWorkspace } from '../../main/record/workspace/capture.js';
import { gitState } from '../../main/record/workspace/git-state.js';
import { runProgram } from '../../main/record/workspace/run-program.js';
import { putWorkspace, workspaceOf } from '../../main/record/workspace/workspace-store.js';
import { openStore } from '../../main/store/store.js';
import { exportSession, rawExport } from '../../main/trajectory/export-session.js';
import { ask, request, say, system, temporaryHome } from './support.js';

let folder: ReturnType<typeof temporaryHome>;
let repo: string;
beforeEach(() => {
  folder = temporaryHome();
  repo = join(realpathSync(folder.home), 'repo');
  mkdirSync(repo);
});
afterEach(() => folder.remove());

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Dev', '-c', 'user.email=dev@example.com', ...args], {
    cwd: repo,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
const write = (name: string, text: string): void => writeFileSync(join(repo, name), text);
const never = new AbortController().signal;

function commitFirst(): void {
  git('init', '-q', '-b', 'trunk');
  write('a.txt', 'one\n');
  write('package-lock.json', '{"lockfileVersion":3}\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
}

it('does not take a diff that failed for no changes', async () => {
  commitFirst();
  // Its tree cannot be read any more.
  const tree = git('rev-parse', 'HEAD^{tree}');
  rmSync(join(repo, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
  const found = await captureWorkspace(repo, never);
  expect(found?.git).toBeNull();
  expect(found?.problems.join()).toContain('git could not say what was changed');
});

it('finds commit, branch, changes, lock files and tools', async () => {
  commitFirst();
  write('a.txt', 'two\n');
  write('new.txt', 'not added');
  mkdirSync(join(repo, 'sub'));
  const found = await captureWorkspace(join(repo, 'sub'), never);
  expect(found).toMatchObject({
    cwd: join(repo, 'sub'),
    git: { root: repo, commit: git('rev-parse', 'HEAD'), branch: 'trunk', diffClipped: false, untrackedClipped: false },
    problems: [],
  });
  expect(found?.git?.diff).toContain('-one\n+two\n');
  expect(found?.git?.untracked).toEqual(['new.txt']);
  const sha256 = createHash('sha256').update('{"lockfileVersion":3}\n').digest('hex');
  expect(found?.locks).toEqual([{ path: join(repo, 'package-lock.json'), bytes: 22, sha256 }]);
  expect(found?.tools).toContainEqual({ name: 'node', version: process.version });
  expect(found?.tools).toContainEqual({
    name: 'git',
    version: execFileSync('git', ['--version'], { encoding: 'utf8' }).trim(),
  });
});

it('says when there is no repository, no commit, no branch or no folder', async () => {
  expect(await captureWorkspace(repo, never)).toMatchObject({ git: null });
  git('init', '-q', '-b', 'trunk');
  expect(await captureWorkspace(repo, never)).toMatchObject({ git: { commit: null, branch: 'trunk', diff: '' } });
  commitFirst();
  git('checkout', '-q', '--detach');
  expect(await captureWorkspace(repo, never)).toMatchObject({ git: { branch: null } });
  expect(await captureWorkspace(join(repo, 'absent'), never)).toBeNull();
  expect(await captureWorkspace(join(repo, 'a.txt'), never)).toBeNull();
});

it('cuts a large diff and says so', async () => {
  commitFirst();
  write('a.txt', 'x'.repeat(100).concat('\n').repeat(20_000));
  const found = await captureWorkspace(repo, never);
  expect(found?.git?.diffClipped).toBe(true);
  expect(Buffer.byteLength(found?.git?.diff ?? '')).toBeLessThanOrEqual(MAX_DIFF_BYTES);
});

it('runs no program that the repository names', async () => {
  commitFirst();
  const witness = join(folder.home, 'ran');
  const program = join(folder.home, 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${witness}\ncat\n`);
  chmodSync(program, 0o755);
  for (const [key, value] of Object.entries({
    'core.fsmonitor': program,
    'core.pager': program,
    'core.hooksPath': folder.home,
    'diff.external': program,
    'diff.made.command': program,
    'diff.made.textconv': program,
    'filter.made up.clean': program,
    'filter.made up.process': program,
    'filter.made up.required': 'true',
    'filter.second.clean': program,
  }))
    git('config', key, value);
  for (const hook of ['post-index-change', 'reference-transaction', 'fsmonitor-watchman']) {
    const file = join(repo, '.git', 'hooks', hook);
    mkdirSync(join(repo, '.git', 'hooks'), { recursive: true });
    writeFileSync(file, `#!/bin/sh\necho ${hook} >> ${witness}\n`);
    chmodSync(file, 0o755);
  }
  write('.gitattributes', '*.txt filter=second diff=made\n');
  write('a.txt', 'two\n');
  const found = await captureWorkspace(repo, never);
  expect(found).toMatchObject({ problems: [], git: { branch: 'trunk' } });
  expect(found?.git?.diff).toContain('+two');
  expect(existsSync(witness)).toBe(false);
  // The same question, asked without care, runs them.
  git('diff', 'HEAD');
  expect(existsSync(witness)).toBe(true);
});

const stateOf = (cwd: string) => gitState('git', { cwd, env: process.env, timeoutMs: 10_000, signal: never });

it('holds nothing from outside the folder, whatever its settings name as the work tree', async () => {
  commitFirst();
  const home = realpathSync(folder.home);
  writeFileSync(join(home, 'private.txt'), 'quokka\n');
  git('update-index', '--add', '--cacheinfo', '100644', git('rev-parse', ':a.txt'), 'private.txt');
  git('config', 'core.worktree', home);
  expect(git('diff')).toContain('quokka');
  const found = await stateOf(repo);
  expect(found?.root).toBe(repo);
  expect(JSON.stringify(found)).not.toContain('quokka');
});

it("takes no other folder's repository for its own", async () => {
  commitFirst();
  const thief = join(realpathSync(folder.home), 'thief');
  mkdirSync(thief);
  const link = join(thief, '.git');
  writeFileSync(link, `gitdir: ${join(repo, '.git')}\n`);
  await expect(stateOf(thief)).rejects.toThrow(/^its \.git /);
  rmSync(link);
  symlinkSync(join(repo, '.git'), link);
  await expect(stateOf(thief)).rejects.toThrow(/^its \.git /);
  rmSync(link);
  execFileSync('git', ['init', '-q', '-b', 'trunk', thief]);
  writeFileSync(join(link, 'commondir'), join(repo, '.git'));
  await expect(stateOf(thief)).rejects.toThrow(/^its \.git /);
  rmSync(join(link, 'commondir'));
  for (const name of ['refs', 'objects']) {
    rmSync(join(link, name), { recursive: true });
    symlinkSync(join(repo, '.git', name), join(link, name));
  }
  await expect(stateOf(thief)).rejects.toThrow(/^its \.git /);
});

it('knows linked work trees, submodules and a .git that was moved within the folder', async () => {
  commitFirst();
  const linked = join(realpathSync(folder.home), 'linked');
  git('worktree', 'add', '-q', '-b', 'other', linked);
  writeFileSync(join(linked, 'a.txt'), 'two\n');
  expect(await stateOf(linked)).toMatchObject({ root: linked, branch: 'other' });
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repo, 'sub/module');
  write('sub/module/a.txt', 'three\n');
  const sub = await stateOf(join(repo, 'sub/module'));
  expect(sub).toMatchObject({ root: join(repo, 'sub/module'), branch: 'trunk' });
  expect(sub?.diff).toContain('+three');
  renameSync(join(linked, '.git'), join(linked, 'moved'));
  expect(await stateOf(linked)).toBeNull();
  git('init', '-q', '--separate-git-dir', join(repo, 'own-git'));
  expect(await stateOf(repo)).toMatchObject({ root: repo, branch: 'trunk' });
});

it('takes no harm from what can be no folder', async () => {
  const loop = join(folder.home, 'loop');
  symlinkSync(loop, loop);
  for (const cwd of ['/a\0b', `/${'x'.repeat(5000)}`, loop, join(loop, 'sub')])
    expect(await captureWorkspace(cwd, never)).toBeNull();
});

describe('a program that leaves another one behind', () => {
  const limits = { cwd: '/', env: process.env, maxBytes: 100, timeoutMs: 1000, signal: never };
  const run = (script: string, more: Partial<typeof limits> = {}) =>
    runProgram('/bin/sh', ['-c', `sleep 60 & echo $! > '${join(folder.home, 'pid')}'; ${script}`], {
      ...limits,
      ...more,
    });
  /** Also one that has ended and was not yet collected is gone. */
  const isRunning = (): boolean => {
    const pid = readFileSync(join(folder.home, 'pid'), 'utf8').trim();
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' });
    return !/^(Z.*)?$/.test(stdout.trim());
  };

  it.each(['exit', 'wait'])('is late with it: %s', async (script) => {
    await expect(run(script)).rejects.toThrow('it took longer than 1 s');
    await expect.poll(isRunning).toBe(false);
  });

  it('is stopped with it when it prints too much, or is no longer wanted', async () => {
    const clipped = await run('while :; do echo narwhal; done', { timeoutMs: 60_000 });
    expect(clipped).toMatchObject({ clipped: true, code: null });
    expect(clipped.stdout).toHaveLength(100);
    await expect.poll(isRunning).toBe(false);
    const signal = AbortSignal.timeout(500);
    await expect(run('wait', { timeoutMs: 60_000, signal })).rejects.toThrow('aborted');
    await expect.poll(isRunning).toBe(false);
    await expect(run('wait', { signal })).rejects.toThrow('aborted');
  });
});

it('ends with its signal and says so', async () => {
  commitFirst();
  const stop = new AbortController();
  const capture = captureWorkspace(repo, stop.signal);
  stop.abort();
  expect((await capture)?.problems[0]).toMatch(/^git: /);
});

it('belongs to its session: shown, exported clean, deleted with it', async () => {
  commitFirst();
  const token = `ghp_${createHash('sha256').update(String(Math.random())).digest('hex').slice(0, 36)}`;
  write('a.txt', `token = "${token}"\n`);
  const store = openStore(folder.home);
  const recorder = new Recorder(store);
  const { sessionId } = recorder.record(request([system, ask('Hello')], say('Hi')));
  const workspace = (await captureWorkspace(repo, never))!;
  expect(putWorkspace(store, 'ses_none', workspace)).toBe(false);
  expect(putWorkspace(store, sessionId, workspace)).toBe(true);
  expect(putWorkspace(store, sessionId, { ...workspace, git: null })).toBe(false);
  expect(workspaceOf(store, sessionId)).toEqual(workspace);
  const raw = JSON.stringify(rawExport(store, sessionId, 'atif'));
  expect(raw).toContain(token);
  const clean = exportSession(store, sessionId, { format: 'atif' }).text();
  expect(clean).toContain(workspace.git!.commit);
  expect(clean).not.toContain(token);
  recorder.deleteSession(sessionId);
  expect(workspaceOf(store, sessionId)).toBeNull();
  store.close();
});
