/** What commands print whose whole output is private. */
import { describe, expect, test } from 'vitest';
import { askedBy, isAnswer } from '../../main/sanitize/detect/asking-commands.js';
import { sanitizeBytes } from '../../main/sanitize/sanitize.js';

const clean = (...records: unknown[]): string[] => {
  const { bytes } = sanitizeBytes(Buffer.from(records.map((record) => JSON.stringify(record)).join('\n')));
  return bytes.toString().split('\n');
};

describe('in the forms of harnesses', () => {
  test('call and result in two records, found by the id of the call', () => {
    const call = (id: string, command: string) => ({
      role: 'assistant',
      tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: JSON.stringify({ command }) } }],
    });
    const lines = clean(
      call('call_0001', 'whoami'),
      call('call_0002', 'git branch --show-current'),
      { role: 'tool', tool_call_id: 'call_0002', content: 'marta\n' },
      { role: 'tool', tool_call_id: 'call_0001', content: 'ruth-ann\n' },
      { role: 'assistant', content: 'You are ruth-ann.' },
    );
    expect(lines[2]).toContain('"marta\\n"');
    expect(lines[3]).toContain('"content":"user1\\n"');
    expect(lines[4]).toContain('You are user1.');
  });

  test('both in one record', () => {
    const [line] = clean({
      id: 'prt_1',
      type: 'tool',
      callID: 'toolu_01X31',
      state: { status: 'completed', input: { command: 'cd /srv && hostname -s 2>/dev/null' }, output: 'kraken\n' },
    });
    expect(line).toContain('"output":"host1\\n"');
  });

  test('result as JSON in a string, and as parts of a message', () => {
    const lines = clean(
      {
        message: {
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id: 'toolu_a1',
              name: 'Bash',
              input: { command: 'security find-generic-password -w -s x' },
            },
            { type: 'tool_use', id: 'toolu_a2', name: 'Bash', input: { command: 'git config user.name' } },
            { type: 'tool_use', id: 'toolu_a3', name: 'Bash', input: { command: 'id -un' } },
          ],
        },
      },
      {
        message: {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_a1', content: [{ type: 'text', text: 'Hunter2!kelp\n' }] },
            { type: 'tool_result', tool_use_id: 'toolu_a2', content: 'Ruth Annensky\n' },
          ],
        },
      },
      { type: 'function_call_output', call_id: 'toolu_a3', output: JSON.stringify({ output: 'bkow\n', metadata: {} }) },
    );
    expect(lines[1]).toContain('"text":"REDACTED_PASSWORD_1\\n"');
    expect(lines[1]).toContain('"content":"person1\\n"');
    expect(lines[2]).toContain('{\\"output\\":\\"user1\\\\n\\"');
  });

  test('of others, of more than a word, and without an id nothing is taken', () => {
    const call = { id: 'call_0001', arguments: { command: 'whoami' } };
    for (const result of [
      { tool_call_id: 'call_0009', content: 'marta\n' },
      { tool_call_id: 'call_0001', content: 'command not found\n' },
      { tool_call_id: 'call_0001', content: 'root\n' },
      { content: 'marta\n' },
      { tool_call_id: 'call_0001', title: 'marta' },
    ])
      expect(clean(call, result)[1]).toBe(JSON.stringify(result));
  });
});

test('commands that print one thing only', () => {
  for (const command of ['whoami', ' id -un ', 'echo $USER', 'cd x && whoami', 'logname 2>/dev/null'])
    expect(askedBy(command)?.family).toBe('user');
  for (const command of ['gh auth token', 'printenv GITHUB_TOKEN', 'echo "$DB_PASSWORD"', 'op read "op://a/b/c"'])
    expect(askedBy(command)?.family).toBe('password');
  for (const command of [
    'whoami && ls',
    'whoami | tee x',
    'ls',
    'echo $HOME',
    'hostname -I',
    'git config user.name x',
    `whoami ${'x'.repeat(400)}`,
  ])
    expect(askedBy(command)).toBeNull();
  expect(isAnswer(askedBy('whoami')!, 'root')).toBe(false);
  expect(isAnswer(askedBy('gh auth token')!, 'REDACTED_GITHUB_PAT_1')).toBe(false);
});

test('records that are no JSON, deep ones and ids without strings do no harm', () => {
  const deep = `${'{"id":"call_0001","arguments":'.repeat(600)}"whoami"${'}'.repeat(600)}`;
  const lines = ['{"id":"call_0001","command":"whoami"', deep, '{"id":5,"command":"whoami"}', 'whoami', '[1]'];
  const text = lines.join('\n');
  expect(sanitizeBytes(Buffer.from(text)).bytes.toString()).toBe(text);
});
