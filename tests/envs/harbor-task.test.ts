import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { taskContentHash } from '../../main/envs/content-hash.js';
import { KIND_NAMES, makeDataTask } from '../../main/envs/generate/data-task.js';
import { dataTaskName, writeDataTask } from '../../main/envs/harbor-task.js';
import { readTaskConfig } from '../../main/envs/task-config.js';
import { writeTaskFolder } from '../../main/envs/task-folder.js';
import { describeShared } from '../support/shared.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();
const NAME = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/;

describe('writeDataTask', () => {
  it('writes a whole folder: agent files without answer, executable scripts, a readable task.toml', () => {
    const task = makeDataTask('7', 'held');
    const dir = join(root, 'seven');
    const { name, contentHash } = writeDataTask(task, dir);
    expect(readTaskConfig(dir)).toMatchObject({ name, category: 'data', workdir: '/work' });
    expect(contentHash).toBe(taskContentHash(dir));
    expect(readFileSync(join(dir, 'instruction.md'), 'utf8')).toBe(`${task.question}\n`);
    expect(readdirSync(join(dir, 'environment', 'files')).sort()).toEqual(Object.keys(task.files).sort());
    for (const script of ['tests/test.sh', 'solution/solve.sh'])
      expect(statSync(join(dir, script)).mode & 0o111).not.toBe(0);
    expect(readdirSync(root).filter((entry) => entry.includes('.new-'))).toEqual([]);
  });

  it('gives every seed, split and kind a valid name of its own', () => {
    const seeds = ['1', 'a b', 'a-b', '../x', 'ü', '..', ''];
    const names = seeds.flatMap((seed) => KIND_NAMES.map((kind) => dataTaskName({ seed, split: 'train', kind })));
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(NAME);
  });

  it('replaces an older folder and refuses paths that leave it', () => {
    const dir = join(root, 'again');
    writeTaskFolder(dir, { old: { content: '' } });
    writeTaskFolder(dir, { new: { content: '' } });
    expect(readdirSync(dir)).toEqual(['new']);
    for (const path of ['../x', '/x', 'a//b', 'a/../../x', ''])
      expect(() => writeTaskFolder(dir, { [path]: { content: '' } })).toThrow(/inside/);
    expect(readdirSync(dir)).toEqual(['new']);
  });
});

describe('taskContentHash', () => {
  it('follows names and bytes of the counted files only', () => {
    const dir = join(root, 'hash');
    writeDataTask(makeDataTask('h', 'train'), dir);
    const before = taskContentHash(dir);
    mkdirSync(join(dir, 'tests', '__pycache__'));
    writeFileSync(join(dir, 'tests', '__pycache__', 'x.py'), '');
    writeFileSync(join(dir, 'notes.txt'), '');
    writeFileSync(join(dir, 'tests', 'check.py~'), '');
    expect(taskContentHash(dir)).toBe(before);
    writeFileSync(join(dir, 'environment', 'files', 'more.csv'), '');
    expect(taskContentHash(dir)).not.toBe(before);
  });
});

describeShared('the reference linter of task folders', (shared) => {
  it('finds nothing and gets the same content hash', () => {
    const linter = join(shared, 'specs', 'formats', 'harbor', 'check_task.py');
    const dirs = ['l1', 'l2'].map((seed) => join(root, seed));
    const hashes = dirs.map((dir, i) => writeDataTask(makeDataTask(`l${i}`, 'train'), dir).contentHash);
    const python = ['/usr/bin/python3', 'python3'].find((command) => command === 'python3' || existsSync(command))!;
    const output = execFileSync(python, [linter, ...dirs], { encoding: 'utf8' });
    expect(output).not.toMatch(/ERROR|warn/);
    for (const hash of hashes) expect(output).toContain(`sha256:${hash}`);
  });
});
