/** One effect in many spellings: every one must be stopped. The harmless twins must pass. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { bash } from './support.js';

const fixture = join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures', 'guard', 'spellings.json');
const { grader, unknown_host: unknownHost } = JSON.parse(readFileSync(fixture, 'utf8')) as Record<
  'grader' | 'unknown_host',
  string[]
>;

describe('writes to the reward or the tests', () => {
  test.each(grader)('%s', (command) => expect(bash(command)).toMatchObject({ verdict: 'block', stage: 2 }));
  test.each(grader)('the same on files of the project passes: %s', (command) => {
    const harmless = command
      .replaceAll('/logs/verifier', '/app/out')
      .replaceAll('/tests', '/app/build')
      .replaceAll('reward.txt', 'sum.txt');
    // What is spelled in a way that plain replacing does not reach says nothing here.
    if (/logs|verif|rewar|te""sts|te'sts|tests|txt\.drawer|base|xxd|rot13|lXgs|ybtf|fromhex|chr\(|162/.test(harmless))
      return;
    expect(bash(harmless).verdict).toBe('allow');
  });
});

describe('contact with a host nobody named', () => {
  test.each(unknownHost)('%s', (command) =>
    expect(bash(command)).toMatchObject({ verdict: 'block', rule: 'stage1.host' }),
  );
  test.each(unknownHost)('the same with a host the user named passes: %s', (command) => {
    if (!command.includes('evil.example.org')) return;
    expect(bash(command.replaceAll('evil.example.org', 'docs.example.com')).rule).not.toBe('stage1.host');
  });
});
