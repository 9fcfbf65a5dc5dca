import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InstalledPlugins, pluginState } from '../../main/guard/installed-plugins.js';
import { readPlugin } from '../../main/guard/plugins.js';

const RULES = JSON.stringify({
  version: 1,
  rules: [{ id: 'own.a', severity: 'low', reason: 'no', match: [{ on: ['command'], pattern: 'x' }] }],
});
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'guard-installed-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const entry = (name: string) => ({
  path: join(dir, name),
  sha256: createHash('sha256').update(RULES).digest('hex'),
  addedAt: 1,
});

test.skipIf(process.platform === 'win32')(
  'a pipe in the place of a plugin holds nobody up, and goes away',
  async () => {
    const [a, b] = [entry('a.json'), entry('b.json')];
    execFileSync('mkfifo', [a.path]);
    writeFileSync(b.path, RULES);
    const installed = new InstalledPlugins();
    try {
      const unusable = { kind: 'unusable', name: 'a.json', reason: 'cannot be read' };
      expect(await installed.load([a, b])).toMatchObject([
        unusable,
        { name: 'b.json', kind: expect.not.stringMatching('unusable') },
      ]);
      expect(await installed.load([a])).toEqual([unusable]);
      expect(await pluginState(a)).toBe('missing');
      rmSync(a.path);
      writeFileSync(a.path, RULES);
      expect(await installed.load([a])).toMatchObject([
        { name: 'a.json', kind: expect.not.stringMatching('unusable') },
      ]);
    } finally {
      installed.stop();
    }
  },
  10_000,
);

test('a file that is not read in time is left out, and a later check is answered', async () => {
  const slow = entry('slow.json');
  writeFileSync(slow.path, RULES);
  const installed = new InstalledPlugins(0);
  try {
    for (let check = 0; check < 2; check++)
      expect(await installed.load([slow])).toMatchObject([{ kind: 'unusable', reason: 'cannot be read in time' }]);
  } finally {
    installed.stop();
  }
});

test.skipIf(process.platform === 'win32')(
  'a device and a folder are no plugins, and a large file is not read whole',
  async () => {
    symlinkSync('/dev/zero', join(dir, 'zero.mjs'));
    writeFileSync(join(dir, 'large.mjs'), 'x'.repeat(1024 * 1024 + 1));
    for (const path of [join(dir, 'zero.mjs'), dir, join(dir, 'large.mjs')])
      await expect(readPlugin(path)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  },
);
