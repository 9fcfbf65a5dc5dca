import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bundledPackages, isAllowed, OUTPUT, render } from '../../scripts/licenses.mjs';

describe('licences of bundled packages', () => {
  it('are all on the allow-list', () => {
    const packages = bundledPackages();
    expect(packages.length).toBeGreaterThan(10);
    expect(packages.filter(({ license }) => !isAllowed(license))).toEqual([]);
  });

  it('are listed in a file that is current', () => {
    expect(readFileSync(OUTPUT, 'utf8'), 'run: node scripts/licenses.mjs').toBe(render(bundledPackages()));
  });

  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND ISC', true],
    ['MIT AND GPL-3.0-only', false],
    ['GPL-3.0-only', false],
    ['none named', false],
    ['SEE LICENSE IN x', false],
  ])('%s is allowed: %s', (expression, allowed) => expect(isAllowed(expression)).toBe(allowed));
});
