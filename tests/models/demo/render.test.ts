import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { describe, expect, it } from 'vitest';
import type { ChatMessage, ToolDefinition } from '../../../main/engine/protocol.js';
import { demoModelDir } from '../../../main/models/demo/complete-tokenizer.js';
import { renderText } from '../../../main/models/demo/render.js';
import { packageRoot } from '../../../native/addon.js';

const template = new Template(readFileSync(join(demoModelDir(), 'chat_template.jinja'), 'utf8'));
const byTemplate = (messages: ChatMessage[], tools: ToolDefinition[], generate = true) =>
  template.render({
    messages: messages as unknown as Record<string, unknown>[],
    tools,
    add_generation_prompt: generate,
  });

const tool: ToolDefinition = {
  type: 'function',
  function: {
    name: 'bash',
    description: 'Runs "it" — ok',
    parameters: { type: 'object', required: ['command'], properties: { command: { type: 'string' } } },
  },
};
const call = (args: string) => ({ id: 'c1', type: 'function' as const, function: { name: 'bash', arguments: args } });

const conversations: [string, ChatMessage[], ToolDefinition[]][] = [
  ['a question', [{ role: 'user', content: 'hello' }], []],
  ['tools without a system prompt', [{ role: 'user', content: 'hello' }], [tool]],
  [
    'system, parts, call, result',
    [
      { role: 'system', content: 'Be brief.\n' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b <|end|>' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call('{"command":"ls -a \\"x\\""}')] },
      { role: 'tool', content: 'out\n\n\nCommand exited with code 3', tool_call_id: 'c1' },
      { role: 'assistant', content: 'Done.' },
    ],
    [tool, tool],
  ],
  [
    'developer role, two calls, empty content',
    [
      { role: 'developer', content: [{ type: 'text', text: 'x' }] },
      { role: 'assistant', content: '', tool_calls: [call('{}'), call('{"command":"é"}')] },
      { role: 'tool', content: [{ type: 'text', text: 'y' }], tool_call_id: 'c1' },
    ],
    [tool],
  ],
];

describe('the renderer and the chat template', () => {
  it.each(conversations)('agree on %s', (_, messages, tools) => {
    expect(renderText(messages, tools)).toBe(byTemplate(messages, tools));
    expect(renderText(messages, tools, false)).toBe(byTemplate(messages, tools, false));
  });

  it('write the documented format', () => {
    expect(renderText(conversations[2]![1], [tool])).toBe(
      `<|system|>Be brief.\n<|tools|>${JSON.stringify(tool.function)}<|end|><|user|>ab <|end|><|end|><|assistant|><tool_call>{"name":"bash","arguments":{"command":"ls -a \\"x\\""}}</tool_call><|end|><|tool|>out\n\n\nCommand exited with code 3<|end|><|assistant|>Done.<|end|><|assistant|>`,
    );
  });

  const recorded = join(packageRoot(), '..', 'shared', 'fixtures', 'harness', 'pi');
  it.skipIf(!existsSync(recorded))('agree on the recorded requests of the real pi', () => {
    let requests = 0;
    for (const scenario of readdirSync(recorded)) {
      const folder = join(recorded, scenario, 'http');
      if (!existsSync(folder)) continue;
      for (const name of readdirSync(folder).filter((file) => /chat.*\.request\.json$/.test(file))) {
        const { body } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
          body: { messages: ChatMessage[]; tools?: unknown };
        };
        const tools =
          Array.isArray(body.tools) && typeof body.tools[0] === 'object' ? (body.tools as ToolDefinition[]) : [];
        expect(renderText(body.messages, tools), `${scenario}/${name}`).toBe(byTemplate(body.messages, tools));
        requests++;
      }
    }
    expect(requests).toBeGreaterThan(20);
  });
});
