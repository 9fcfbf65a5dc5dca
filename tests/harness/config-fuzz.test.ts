/** Damaged and odd configuration texts: entering refuses or changes our entries alone, and leaving brings all back. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import { enterAll, leaveAll } from '../../main/harness/config-entries.js';
import { type ConfigSyntax, parseConfig } from '../../main/harness/config-text.js';
import { hermesConnector } from '../../main/harness/connect-hermes.js';
import { opencodeConnector } from '../../main/harness/connect-opencode.js';
import { jsonText } from '../../main/harness/json-text.js';
import { yamlText } from '../../main/harness/yaml-text.js';
import { EXISTING, MAIN_FILE } from './connect-support.js';

const SETTINGS = { baseUrl: 'http://127.0.0.1:1/x/v1', modelId: 'demo', token: 'tok-1', contextTokens: null };
const nowhere = { root: '/nonexistent', env: {} };

/** Cuts, doubles and overwrites pieces of a text. */
const damaged = (text: string): fc.Arbitrary<string> =>
  fc
    .array(
      fc.tuple(
        fc.nat(text.length),
        fc.nat(12),
        fc.constantFrom(
          '',
          '{',
          '}',
          '[',
          ']',
          ',',
          ':',
          '"',
          '\n',
          '  ',
          '- ',
          '#',
          '//',
          '&a ',
          '*a',
          '|\n',
          '\t',
          '\r\n',
          '\uFEFF',
        ),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((edits) => edits.reduce((now, [at, length, put]) => now.slice(0, at) + put + now.slice(at + length), text));

function roundTrip(
  syntax: ConfigSyntax,
  file: ReturnType<typeof hermesConnector.locate>['files'][number],
  text: string,
) {
  const attempt = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      expect(error).toBeInstanceOf(TackroomError);
      return null;
    }
  };
  const before = attempt(() => parseConfig(syntax, 'f', text));
  if (before === null) return 'unreadable';
  const entries = file.entries(before, SETTINGS);
  const entered = attempt(() => enterAll(syntax, 'f', text, entries));
  if (entered === null) return 'refused';
  const left = attempt(() => leaveAll(syntax, 'f', entered, text, entries));
  if (left === null) return 'stuck';
  expect(parseConfig(syntax, 'f', left)).toEqual(before);
  return 'done';
}

describe.each([
  ['opencode', jsonText, opencodeConnector],
  ['hermes', yamlText, hermesConnector],
] as const)('damaged settings of %s', (harness, syntax, connector) => {
  it('are refused, or entered and left without a trace', () => {
    const [file] = connector.locate(nowhere).files;
    const seen: Record<string, number> = {};
    fc.assert(
      fc.property(damaged(EXISTING[harness][MAIN_FILE[harness]]!), (text) => {
        const outcome = roundTrip(syntax, file!, text);
        seen[outcome] = (seen[outcome] ?? 0) + 1;
      }),
      { numRuns: 400 },
    );
    // Both ways were gone; what could be entered could be left.
    expect(seen.unreadable).toBeGreaterThan(20);
    expect(seen.done).toBeGreaterThan(20);
    expect(seen.stuck ?? 0).toBe(0);
  });
});

describe('the time it takes', () => {
  it('stays short for a file of 130 KB, most of it comments', () => {
    const block = `${'# a comment as long as those of the example file that hermes ships\n'.repeat(20)}sectionN:\n  key: "value" # why\n  list:\n  - 1\n`;
    const text = Array.from({ length: 90 }, (_, i) => block.replace('N', String(i))).join('');
    const [file] = hermesConnector.locate(nowhere).files;
    const began = performance.now();
    expect(roundTrip(yamlText, file!, text)).toBe('done');
    expect(performance.now() - began).toBeLessThan(5_000);
  });
  it.each([
    ['nested lists', `a: ${'['.repeat(50_000)}`],
    [
      'aliases of aliases',
      `${Array.from({ length: 30 }, (_, i) => `a${i}: &a${i} [${i === 0 ? 'x' : `*a${i - 1}, *a${i - 1}`}]`).join('\n')}\n`,
    ],
    ['one long line', `a: "${'x'.repeat(500_000)}"\n`],
  ])('is bounded for YAML with %s', (_name, text) => {
    const [file] = hermesConnector.locate(nowhere).files;
    const began = performance.now();
    roundTrip(yamlText, file!, text);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
