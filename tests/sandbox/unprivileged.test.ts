import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { workingDrivers } from './drivers.js';

const names = [...new Set((await workingDrivers()).map((one) => one.driver.name))];
const script = fileURLToPath(new URL('./unprivileged.mjs', import.meta.url));
const NOBODY = 65534;

/** Whether an ordinary user can get at this checkout and the interpreter at all. */
function readableForOthers(): boolean {
  try {
    execFileSync(process.execPath, ['-e', `require('fs').readFileSync(${JSON.stringify(script)})`], {
      uid: NOBODY,
      gid: NOBODY,
      stdio: 'ignore',
    });
    accessSync(process.execPath, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// Where the tests run as an ordinary user, all the others already show what this one does.
const runnable = process.getuid?.() === 0 && names.length > 0 && readableForOthers();

describe.skipIf(!runnable)('an ordinary user (skipped unless the tests run as root)', () => {
  it('gets the same sandboxes, with memory and processes limited', () => {
    const home = mkdtempSync(join(tmpdir(), 'tackroom-test-'));
    execFileSync('chown', [`${NOBODY}:${NOBODY}`, home]);
    const text = execFileSync(process.execPath, [script, ...names], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: { PATH: process.env.PATH, HOME: home, TMPDIR: home },
      encoding: 'utf8',
    });
    rmSync(home, { recursive: true });
    const results = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string | number>);
    expect(results.map((result) => result.name)).toEqual(names);
    for (const result of results) {
      expect(result).toMatchObject({ uid: NOBODY, plain: '1000\n42\n', hog: '' });
      expect(Number(String(result.bomb).trim() || 0)).toBeLessThanOrEqual(26);
    }
  });
});
