import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ToolDefinition } from '../../main/engine/protocol.js';
import { blockedNotice, checkResponse } from '../../main/guard/guard.js';
import { harmlessCall } from '../../main/guard/harmless-call.js';
import { USER } from './support.js';

const tool = (name: string, properties: Record<string, unknown>, required: string[] = []): ToolDefinition => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties, required } },
});
const command = { command: { type: 'string' } };
const HARNESSES: Record<string, ToolDefinition[]> = {
  pi: [tool('read', { path: {} }), tool('bash', { ...command, timeout: { type: 'number' } }, ['command'])],
  opencode: [
    tool('bash', { ...command, description: { type: 'string' } }, ['command', 'description']),
    tool('webfetch', { url: {} }),
  ],
  hermes: [
    tool('terminal', { ...command, background: { type: 'boolean' } }, ['command']),
    tool('process', { action: {} }),
  ],
  list: [tool('shell', { command: { type: 'array' } }, ['command'])],
};
const Args = z.looseObject({ command: z.union([z.string(), z.array(z.string())]) });

function rewritten(harness: string, name: string, notice = blockedNotice(name, 'why')) {
  const tools = HARNESSES[harness] ?? [];
  const call = harmlessCall({ id: 'c', name, arguments: '{"x":1}' }, tools, notice);
  if (!call) throw new Error('not rewritten');
  return { call, args: Args.parse(JSON.parse(call.arguments)), tools };
}
function runs({ command: script }: z.infer<typeof Args>) {
  const [program, ...rest] = typeof script === 'string' ? ['sh', '-c', script] : script;
  return spawnSync(program!, rest, { encoding: 'utf8' });
}

describe('what a blocked call becomes', () => {
  test.each([
    ['pi', 'bash', 'bash'],
    ['pi', 'read', 'bash'],
    ['opencode', 'bash', 'bash'],
    ['opencode', 'webfetch', 'bash'],
    ['hermes', 'terminal', 'terminal'],
    ['hermes', 'process', 'terminal'],
    ['list', 'shell', 'shell'],
  ])('%s: %s -> %s', (harness, name, becomes) => {
    const { call, args, tools } = rewritten(harness, name);
    expect(call).toMatchObject({ id: 'c', name: becomes });
    const parameters = tools.find((each) => each.function.name === becomes)?.function.parameters;
    for (const key of z.object({ required: z.array(z.string()) }).parse(parameters).required)
      expect(args).toHaveProperty(key);
    const result = runs(args);
    expect(result).toMatchObject({ status: 126, stdout: '', stderr: `tackroom blocked call to ${name}: why\n` });
    expect(
      checkResponse({ harness: 'pi', profile: 'training', request: { messages: [USER], tools }, toolCalls: [call] })[0]
        ?.verdict,
    ).toBe('allow');
  });

  test('without a shell tool nothing', () => {
    expect(harmlessCall({ id: 'c', name: 'read', arguments: '{}' }, [tool('read', {})], 'x')).toBeNull();
  });
});

test.each([
  "'; touch x; '",
  "x'; calc.exe; '",
  '\u2019; calc.exe; \u2018',
  '"& calc.exe &"',
  '$(touch x)',
  '$env:PATH',
  '`touch x`',
  '%PATH%',
  '!PATH!',
  '^|<>',
  '\u01c0 calc.exe \u02bc \uff02 \u0300',
  'a\nb\u0000c\u2028d\re',
  '%s%n\\',
  '\ud800',
])('a tool called %j runs nothing in any shell, and stays one line', (name) => {
  const { args } = rewritten('pi', 'read', blockedNotice(name, 'why'));
  const { status, stdout, stderr } = runs(args);
  expect({ status, stdout }).toEqual({ status: 126, stdout: '' });
  expect(stderr.split('\n')).toHaveLength(2);
  expect(stderr).toContain('blocked call');
  // Nothing but letters, digits and signs that neither sh nor cmd nor PowerShell reads as more than text.
  const said = /^printf '%s\\n' '(.*)' >&2; exit 126$/s.exec(z.string().parse(args.command))?.[1];
  expect(said).toMatch(/^[A-Za-z0-9_ .,:/-]+$/);
});

test('what is written in other scripts can be read', () => {
  const { args } = rewritten('pi', 'read', blockedNotice('read', 'nicht erlaubt: Zugriff auf Schlüssel; 不允许'));
  expect(runs(args).stderr).toBe('tackroom blocked call to read: nicht erlaubt: Zugriff auf Schlüssel 不允许\n');
});
