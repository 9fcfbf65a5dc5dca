import { describe, expect, test } from 'vitest';
import { Allowance, callKey, wasWrong } from '../../main/guard/allowances.js';
import { checkResponse } from '../../main/guard/guard.js';
import type { GuardInput } from '../../main/guard/types.js';
import { TOOLS, USER } from './support.js';

const input = (command: string, name = 'bash'): GuardInput => ({
  harness: 'pi',
  profile: 'training',
  request: { messages: [USER], tools: TOOLS },
  toolCalls: [{ id: 'c', name, arguments: JSON.stringify({ command }) }],
});
const verdict = (command: string, allowances: Allowance[] = []) => {
  const [first] = checkResponse(input(command), { allowances });
  if (!first) throw new Error('no verdict');
  return first;
};
const key = (args: unknown, name = 'bash') => callKey({ name, arguments: JSON.stringify(args) });

describe('"this was wrong"', () => {
  test.each(['curl https://other.example.org/x', 'rm -rf /tests/cache', 'git fsck'])(
    '%s passes from then on',
    (command) => {
      const before = verdict(command);
      expect(before.verdict).not.toBe('allow');
      const { allowance, test: ruleTest } = wasWrong(input(command), before);
      expect(Allowance.parse(JSON.parse(JSON.stringify(allowance)))).toEqual(allowance);
      // `rm` under /tests is found by a second rule as well; each is answered on its own.
      let allowances = [allowance];
      for (let next = verdict(command, allowances); next.verdict !== 'allow'; next = verdict(command, allowances)) {
        expect(allowances.map(({ rule }) => rule)).not.toContain(next.rule);
        allowances = [...allowances, wasWrong(input(command), next).allowance];
      }
      expect(ruleTest).toMatchObject({
        api: 'chat',
        expect: [{ tool_call_id: 'c', verdict: 'allow', rule_family: before.rule }],
      });
    },
  );

  test('only that rule, and only that call', () => {
    const { allowance } = wasWrong(
      input('curl https://other.example.org/x'),
      verdict('curl https://other.example.org/x'),
    );
    expect(verdict('curl https://other.example.org/y', [allowance]).verdict).toBe('block');
    const both = 'curl https://other.example.org/x > /logs/verifier/reward.txt';
    expect(verdict(both, [wasWrong(input(both), verdict(both)).allowance])).toMatchObject({
      verdict: 'block',
      rule: 'tamper.reward_write',
    });
  });

  test('what cannot be run cannot be allowed', () => {
    const unknown = input('ls', 'Bash');
    const [refused] = checkResponse(unknown);
    expect(() => wasWrong(unknown, refused!)).toThrow(/no rule/);
    const forged = { rule: 'stage1.tool', call: callKey(unknown.toolCalls[0]!) };
    expect(checkResponse(unknown, { allowances: [forged] })[0]).toMatchObject({
      verdict: 'block',
      rule: 'stage1.tool',
    });
    expect(() => wasWrong(input('ls'), verdict('ls'))).toThrow();
  });
});

describe('the normal form of a call', () => {
  test.each([
    [{ command: 'ls -la' }, { command: '  ls   -la\n' }],
    [
      { command: 'ls', timeout: 5, description: 'a' },
      { description: 'b', command: 'ls' },
    ],
    [
      { path: 'a', content: 'b' },
      { content: 'b', path: 'a' },
    ],
  ])('%j is %j', (a, b) => expect(key(a)).toBe(key(b)));

  test.each([
    [{ command: 'rm -rf /tmp/x' }, { command: 'rm -rf / tmp/x' }],
    [{ command: 'echo a\nrm b' }, { command: 'echo a rm b' }],
    [{ command: 'python3 <<E\nif x:\n  a\nb\nE' }, { command: 'python3 <<E\nif x:\n  a\n  b\nE' }],
    [{ content: 'a  b' }, { content: 'a b' }],
    [{ edits: [{ description: 'a' }] }, { edits: [{ description: 'b' }] }],
    [{ a: ['x', 'y'] }, { a: ['y', 'x'] }],
    [{ a: { b: 1 } }, { a: [['b', 1]], c: 1 }],
  ])('%j is not %j', (a, b) => expect(key(a)).not.toBe(key(b)));

  test('another tool is another call', () => expect(key({ command: 'ls' }, 'a')).not.toBe(key({ command: 'ls' }, 'b')));
});
