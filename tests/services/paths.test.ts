import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { defaultHome, makeFolder } from '../../main/services/paths.js';

const root = mkdtempSync(join(tmpdir(), 'tackroom-paths-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

describe('makeFolder', () => {
  it('makes the whole path, private, twice', () => {
    const dir = join(root, 'a', 'b ü', 'c');
    makeFolder(dir);
    makeFolder(dir);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it('ends where a file stands in the way, and where no folder can be made', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolder(join(root, 'file'))).toThrow(/EEXIST/);
    expect(() => makeFolder(join(root, 'file', 'x'))).toThrow(/EEXIST|ENOTDIR/);
    if (process.platform === 'linux') expect(() => makeFolder('/proc/nowhere/x')).toThrow(/ENOENT/);
  });
});

it.runIf(process.platform === 'linux')('an empty XDG_DATA_HOME counts as unset', () => {
  vi.stubEnv('TACKROOM_HOME', '');
  vi.stubEnv('XDG_DATA_HOME', '');
  vi.stubEnv('HOME', '/somewhere');
  expect(defaultHome()).toBe('/somewhere/.local/share/tackroom');
});
