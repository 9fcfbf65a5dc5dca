import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../main/harness/unified-diff.js';

const hasPatch = spawnSync('patch', ['--version']).status === 0;

describe('a unified diff', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tackroom-diff-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  it('shows the changed line between its neighbours', () => {
    expect(unifiedDiff('f', 'a\nb\nc\nd\ne\nf\ng\nh\ni\n', 'a\nb\nc\nd\nE\nf\ng\nh\ni\n')).toBe(
      '--- f\n+++ f\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n',
    );
  });

  it('tells of new files, missing newlines, and says nothing where nothing changed', () => {
    expect(unifiedDiff('f', null, 'a\n')).toBe('--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n');
    expect(unifiedDiff('f', 'a', 'a\n')).toBe('--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n');
    expect(unifiedDiff('f', 'a\n', 'a\n')).toBe('');
  });

  it('is quick on large files, whether one line or all of them differ', () => {
    const text = (mark: string) => Array.from({ length: 50_000 }, (_, i) => `${mark}${i}\n`).join('');
    const [old, other] = [text('a'), text('b')];
    expect(unifiedDiff('f', old, old.replace('a25000\n', 'new\n')).split('\n')).toHaveLength(12);
    expect(unifiedDiff('f', old, other).split('\n')).toHaveLength(100_004);
  }, 5_000);

  it.skipIf(!hasPatch)('is what patch(1) needs to make one text of the other', () => {
    const line = fc.constantFrom('a', 'b', 'c', '', '{');
    const text = fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
      .map(([lines, end]) => lines.join('\n') + (end ? '\n' : ''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== '' && after !== '');
        const file = join(dir, 'f');
        writeFileSync(file, before);
        const diff = unifiedDiff('f', before, after);
        if (diff !== '') execFileSync('patch', ['-s', '-p0', 'f'], { cwd: dir, input: diff });
        expect(readFileSync(file, 'utf8')).toBe(after);
      }),
      { numRuns: 25 },
    );
  });
});
