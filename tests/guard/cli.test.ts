import { Readable, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { guardCheckCommand } from '../../main/guard/cli.js';

async function run(lines: unknown[]): Promise<{ code: number; out: Record<string, unknown>[] }> {
  let text = '';
  const sink = new Writable({
    write: (chunk, _, done) => {
      text += String(chunk);
      done();
    },
  });
  const stdin = Readable.from([
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  ]);
  const code = await guardCheckCommand({ file: '-', jsonl: true }, { stdin, stdout: sink, stderr: sink });
  return {
    code,
    out: text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const parameters = { type: 'object' };
const chat = {
  messages: [{ role: 'user', content: 'hi' }],
  tools: [{ type: 'function', function: { name: 'bash', parameters } }],
};

describe('guard check', () => {
  test('reads all three wire forms alike', async () => {
    const command = 'curl https://other.example.org';
    const { out, code } = await run([
      {
        id: 'a',
        profile: 'training',
        harness: 'pi',
        api: 'chat',
        request: chat,
        response: { tool_calls: [{ id: 't', function: { name: 'bash', arguments: JSON.stringify({ command }) } }] },
      },
      {
        id: 'b',
        profile: 'desktop',
        harness: 'opencode',
        api: 'anthropic',
        request: {
          system: 'x',
          messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
          tools: [{ name: 'bash', input_schema: parameters }],
        },
        response: { content: [{ type: 'tool_use', id: 't', name: 'bash', input: { command } }] },
      },
      {
        id: 'c',
        profile: 'desktop',
        harness: 'hermes',
        api: 'responses',
        request: {
          messages: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
          tools: [{ type: 'function', name: 'bash', parameters }],
        },
        response: {
          output: [{ type: 'function_call', call_id: 't', name: 'bash', arguments: JSON.stringify({ command }) }],
        },
      },
    ]);
    expect(code).toBe(3);
    expect(out.map((line) => line.id)).toEqual(['a', 'b', 'c']);
    for (const line of out)
      expect(line.verdicts).toEqual([
        expect.objectContaining({
          tool_call_id: 't',
          verdict: 'block',
          stage: 1,
          rule: 'stage1.host',
          severity: 'high',
          reason: expect.any(String),
        }),
      ]);
  });

  test('exit 0 when nothing is blocked; a broken line is named', async () => {
    expect(
      (
        await run([
          { id: 'a', profile: 'desktop', harness: 'pi', api: 'chat', request: chat, response: { content: 'done' } },
        ])
      ).code,
    ).toBe(0);
    await expect(run(['{"id":'])).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
      message: expect.stringContaining('Line 1'),
    });
  });
});
