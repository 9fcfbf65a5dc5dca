import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findHarness } from '../../main/harness/find-harness.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tackroom-find-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

function program(path: string, script: string, mode = 0o755): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode });
  return file;
}
const find = (root?: string) =>
  findHarness(
    { name: 'pi', programs: ['.local/bin/pi'] },
    { root, env: { PATH: `${join(dir, 'bin')}:/usr/bin:/bin` } },
  );

describe('finding a harness', () => {
  it('takes the one a shell would run and asks it for its version', async () => {
    program('bin/pi/inside', '');
    expect(await find()).toBeNull();
    rmSync(join(dir, 'bin'), { recursive: true });
    program('bin/pi', 'exit 0', 0o644);
    expect(await find()).toBeNull();
    rmSync(join(dir, 'bin'), { recursive: true });
    const path = program('bin/pi', 'echo "pi v1.6.0-beta.2 (2026)"');
    expect(await find()).toEqual({ path, version: '1.6.0-beta.2' });
  });

  it('looks into another home first', async () => {
    program('bin/pi', 'echo 1.0');
    const path = program('root/.local/bin/pi', 'echo 2.0 >&2');
    expect(await find(join(dir, 'root'))).toEqual({ path, version: '2.0' });
  });

  it('lets it write into a home of its own only, which is gone afterwards', async () => {
    const seen = join(dir, 'seen');
    program('bin/pi', `echo x > "$HOME/log"; printf %s "$HOME" > '${seen}'; echo 3.1`);
    expect((await find())?.version).toBe('3.1');
    const home = readFileSync(seen, 'utf8');
    expect(home).toContain('tackroom-version-');
    expect(existsSync(home)).toBe(false);
  });

  it('goes on with one that fails', async () => {
    const path = program('bin/pi', 'echo broken; exit 3');
    expect(await find()).toEqual({ path, version: null });
  });
});
