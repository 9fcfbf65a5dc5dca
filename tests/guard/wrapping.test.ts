/** A command is as bad as it is, however it is wrapped: attacks stay blocked, ordinary commands stay allowed. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { bash } from './support.js';
import { WRAPPERS } from './wrappers.js';

const fixtures = join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures', 'guard');
const read = (name: string): unknown => JSON.parse(readFileSync(join(fixtures, name), 'utf8'));
const { grader, unknown_host: unknownHost } = read('spellings.json') as Record<string, string[]>;
/** Written text that names the verifier's folders is refused in training, whatever it does: not for this test. */
const ordinary = (read('ordinary.json') as string[]).filter((command) => !command.includes('/tests/'));

describe.each(Object.entries(WRAPPERS))('%s', (_, wrap) => {
  test('attacks stay blocked', () => {
    const passed = [...(grader ?? []), ...(unknownHost ?? [])].filter(
      (command) => bash(wrap(command)).verdict !== 'block',
    );
    expect(passed).toEqual([]);
  });
  test('ordinary commands stay allowed', () => {
    const stopped = ordinary
      .map((command) => ({ command, ...bash(wrap(command)) }))
      .filter(({ verdict }) => verdict !== 'allow')
      .map(({ command, verdict, rule }) => `${verdict} ${rule} ${command}`);
    expect(stopped).toEqual([]);
  });
});
