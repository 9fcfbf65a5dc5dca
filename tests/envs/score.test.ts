import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyWork, WORK_CAPS } from '../../main/envs/copy-work.js';
import { checkAnswer } from '../../main/envs/generate/check-answer.js';
import { makeDataTask } from '../../main/envs/generate/data-task.js';
import { writeDataTask } from '../../main/envs/harbor-task.js';
import { readReward } from '../../main/envs/reward.js';
import { materializeTask, runSolution, scoreWork } from '../../main/envs/score.js';
import { writeTaskFolder } from '../../main/envs/task-folder.js';
import { describeSandbox } from './sandbox-support.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();
const fresh = (): string => mkdtempSync(join(root, 'd-'));

describe('readReward', () => {
  const read = (files: Record<string, string>) => {
    const dir = fresh();
    for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
    return readReward(dir);
  };
  it('takes reward.json before reward.txt, one key or the key "reward"', () => {
    expect(read({ 'reward.txt': '0\n' })).toEqual({ reward: 0, error: null });
    expect(read({ 'reward.txt': '1', 'reward.json': '{"accuracy": 0.25}' }).reward).toBe(0.25);
    expect(read({ 'reward.json': '{"speed": 3, "reward": 0.5}' }).reward).toBe(0.5);
  });
  it.each<[string, Record<string, string>]>([
    ['no file', {}],
    ['an empty file', { 'reward.txt': ' \n' }],
    ['nan', { 'reward.txt': 'nan' }],
    ['infinity', { 'reward.txt': '1e999' }],
    ['a NaN in JSON', { 'reward.json': '{"reward": NaN}', 'reward.txt': '1' }],
    ['a nested value', { 'reward.json': '{"reward": {"a": 1}}', 'reward.txt': '1' }],
    ['two keys without "reward"', { 'reward.json': '{"a": 1, "b": 1}' }],
    ['a list', { 'reward.json': '[1]' }],
    ['a huge file', { 'reward.txt': `1${' '.repeat(70_000)}` }],
  ])('has no score, not 0, for %s', (_, files) => {
    const { reward, error } = read(files);
    expect(reward).toBeNull();
    expect(error).toBeTruthy();
  });
  it('has no score for a link', () => {
    const dir = fresh();
    writeFileSync(join(root, 'one'), '1');
    symlinkSync(join(root, 'one'), join(dir, 'reward.txt'));
    expect(readReward(dir).reward).toBeNull();
  });
});

describe('copyWork', () => {
  it('copies regular files only and follows no link', () => {
    const [from, to] = [fresh(), fresh()];
    mkdirSync(join(from, 'a', 'b'), { recursive: true });
    writeFileSync(join(from, 'a', 'b', 'run.sh'), 'x', { mode: 0o755 });
    symlinkSync('/etc/hostname', join(from, 'link'));
    symlinkSync('/etc', join(from, 'folder-link'));
    execFileSync('mkfifo', [join(from, 'pipe')]);
    expect(copyWork(from, to)).toEqual({ files: 1, bytes: 1, skipped: 3 });
    expect(readFileSync(join(to, 'a', 'b', 'run.sh'), 'utf8')).toBe('x');
    expect(existsSync(join(to, 'link'))).toBe(false);
  });
  it('skips what is over a cap: one huge (sparse) file, too many files, too deep', () => {
    const [from, to] = [fresh(), fresh()];
    writeFileSync(join(from, 'huge'), '');
    truncateSync(join(from, 'huge'), 1024 ** 4);
    mkdirSync(join(from, ...Array(50).fill('d')), { recursive: true });
    for (let i = 0; i < 20; i++) writeFileSync(join(from, `f${i}`), 'x');
    const result = copyWork(from, to, { ...WORK_CAPS, files: 10 });
    expect(result.files).toBe(10);
    expect(existsSync(join(to, 'huge'))).toBe(false);
  });
});

/** A task whose tests are the given script. */
function taskWithTests(script: string): string {
  const dir = join(fresh(), 'task');
  writeTaskFolder(dir, {
    'task.toml': { content: 'version = "1.0"\n[task]\nname = "own/task"\n[environment]\nworkdir = "/work"\n' },
    'instruction.md': { content: 'Do it.\n' },
    'environment/files/given.txt': { content: 'given\n' },
    'tests/test.sh': { content: `#!/bin/bash\n${script}\n`, executable: true },
  });
  return dir;
}

describeSandbox('scoreWork', (driver) => {
  const score = async (script: string, timeoutMs = 10_000) => {
    const task = taskWithTests(script);
    const work = fresh();
    await materializeTask(task, work);
    return { ...(await scoreWork(task, work, { driver, timeoutMs })), work };
  };

  it('runs the tests on a copy: what they change does not reach the working directory', async () => {
    const { reward, work } = await score('cat given.txt && echo x > given.txt && echo 0.5 > /logs/verifier/reward.txt');
    expect(reward).toBe(0.5);
    expect(readFileSync(join(work, 'given.txt'), 'utf8')).toBe('given\n');
  });
  it('ignores the exit status, like Harbor', async () => {
    expect((await score('echo 1 > /logs/verifier/reward.txt; exit 3')).reward).toBe(1);
  });
  it.each<[string, string]>([
    ['tests that leave no reward', 'true'],
    ['tests that do not finish', 'echo 1 > /logs/verifier/reward.txt; sleep 30'],
    ['tests that are killed after somebody wrote a reward', 'echo 1 > /logs/verifier/reward.txt; kill -9 $$'],
    ['tests that write into /tests', 'echo x > /tests/test.sh && echo 1 > /logs/verifier/reward.txt'],
  ])('has no score for %s', async (_, script) => {
    const { reward, error } = await score(script, 1000);
    expect(reward).toBeNull();
    expect(error).toBeTruthy();
  });
  it('has no network and no home', async () => {
    const script =
      'if ! (exec 3<>/dev/tcp/1.1.1.1/53) 2>/dev/null && [ ! -e /root ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt';
    expect((await score(script)).reward).toBe(1);
  });
  it('stops when it is cancelled', async () => {
    const task = taskWithTests('sleep 30');
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    const result = await scoreWork(task, fresh(), { driver, signal: abort.signal });
    expect(result).toMatchObject({ reward: null, error: expect.stringContaining('cancelled') });
    expect(result.seconds).toBeLessThan(5);
  });
  it('says that a task without tests cannot be scored', async () => {
    expect(await scoreWork(fresh(), fresh(), { driver })).toMatchObject({
      reward: null,
      error: expect.stringContaining('task.toml'),
    });
  });

  it('judges answers as the generator does', async () => {
    for (const [seed, kind] of [
      ['n', 'mean_where'],
      ['t', 'top_label'],
    ] as const) {
      const task = makeDataTask(seed, 'train', { kind });
      const dir = join(fresh(), 'task');
      writeDataTask(task, dir);
      const shifted = String(Number(task.answer) + 0.005);
      for (const answer of [
        task.answer,
        ` ${task.answer}\n\n`,
        shifted,
        `${task.answer}e0`,
        '1_0',
        'nan',
        'Infinity',
        '',
        '٣',
        `"${task.answer}"`,
      ]) {
        const work = fresh();
        writeFileSync(join(work, 'answer.txt'), answer);
        const { reward } = await scoreWork(dir, work, { driver });
        expect([answer, reward]).toEqual([answer, checkAnswer(task, answer) ? 1 : 0]);
      }
    }
  });

  it('runs the solution of a task in the working directory', async () => {
    const task = makeDataTask('solved', 'held');
    const dir = join(fresh(), 'task');
    writeDataTask(task, dir);
    const work = fresh();
    expect((await materializeTask(dir, work)).instruction).toBe(task.question);
    expect((await scoreWork(dir, work, { driver })).reward).toBe(0);
    expect((await runSolution(dir, work, { driver })).error).toBeNull();
    expect((await scoreWork(dir, work, { driver })).reward).toBe(1);
  });
});
