import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fromAtif } from '../../main/trajectory/from-atif.js';
import { toAtif } from '../../main/trajectory/to-atif.js';
import { validateAtif } from '../../main/trajectory/validate-atif.js';
import { describeShared } from '../support/shared.js';

describeShared('ATIF samples', (shared) => {
  const dir = join(shared, 'specs', 'formats', 'atif', 'samples');
  const read = (file: string): unknown => JSON.parse(readFileSync(join(dir, file), 'utf8'));
  const valid = readdirSync(join(dir, 'valid')).map((file) => `valid/${file}`);
  const manifest = read(readdirSync(dir).includes('MANIFEST.json') ? 'MANIFEST.json' : 'invalid/MANIFEST.json') as {
    file: string;
    expect: string;
  }[];

  test.each(valid)('%s has no errors and reads', (file) => {
    expect(validateAtif(read(file)).filter(({ level }) => level !== 'warning')).toEqual([]);
    const again = toAtif(fromAtif(read(file)), { mode: 'raw' });
    expect(validateAtif(again).filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.each(manifest.map(({ file, expect: code }) => [file, code] as const))('%s fails with %s', (file, code) => {
    expect(validateAtif(read(file)).map((problem) => problem.code)).toContain(code);
    expect(() => fromAtif(read(file))).toThrow(code);
  });
});
