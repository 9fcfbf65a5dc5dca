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

test('a file that never answers is left out; the others run, and later checks are answered', async () => {
  const [slow, good] = [entry('slow.json'), entry('good.json')];
  for (const { path } of [slow, good]) writeFileSync(path, RULES);
  let reads = 0;
  const installed = new InstalledPlugins(500, (path) => {
    if (path !== slow.path) return readPlugin(path);
    reads++;
    return new Promise(() => {});
  });
  try {
    for (let check = 0; check < 2; check++)
      expect(await installed.load([slow, good])).toMatchObject([
        { kind: 'unusable', reason: 'cannot be read in time' },
        { name: 'good.json', kind: 'module' },
      ]);
    expect(reads).toBe(1);
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
