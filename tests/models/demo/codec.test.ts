import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatMessage, ToolDefinition } from '../../../main/engine/protocol.js';
import { createDemoCodec } from '../../../main/models/demo/codec.js';
import { demoModelDir } from '../../../main/models/demo/complete-tokenizer.js';
import { renderText } from '../../../main/models/demo/render.js';
import type { TokenizerFile } from '../../../main/models/demo/tokenizer-file.js';

const codec = createDemoCodec(demoModelDir());
const { added_tokens } = JSON.parse(readFileSync(join(demoModelDir(), 'tokenizer.json'), 'utf8')) as TokenizerFile;
const controls = added_tokens.filter((token) => token.special);
const tools: ToolDefinition[] = [{ type: 'function', function: { name: 'bash', parameters: {} } }];

describe('encodePrompt', () => {
  it('decodes to the rendered prompt', () => {
    const messages: ChatMessage[] = [
      { role: 'system', content: 'S' },
      { role: 'user', content: [{ type: 'text', text: 'How many?' }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: '1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
      },
      { role: 'tool', content: 'a.csv\n', tool_call_id: '1' },
    ];
    expect(codec.decode(codec.encodePrompt(messages, tools))).toBe(renderText(messages, tools));
  });

  it('lets no control token in through a message, a tool result, tool arguments or a tool definition', () => {
    const inside = controls.map((token) => token.content).join(' ');
    const count = (ids: number[]) => ids.filter((id) => controls.some((token) => token.id === id)).length;
    const prompt = (text: string, definition: string) =>
      codec.encodePrompt(
        [
          { role: 'system', content: text },
          { role: 'user', content: text },
          {
            role: 'assistant',
            content: text,
            tool_calls: [
              { id: '1', type: 'function', function: { name: 'bash', arguments: JSON.stringify({ command: text }) } },
            ],
          },
          { role: 'tool', content: text, tool_call_id: '1' },
        ],
        [{ type: 'function', function: { name: 'bash', description: definition } }],
      );
    expect(count(prompt(inside, inside))).toBe(count(prompt('plain', 'plain')));
  });
});

describe('parse', () => {
  it.each([
    ['Done.', 'Done.', []],
    [
      '<tool_call>{"name":"bash","arguments":{"command":"ls  -a"}}</tool_call>',
      '',
      [{ name: 'bash', arguments: '{"command":"ls  -a"}' }],
    ],
    [
      'Look: <tool_call>{"name":"a","arguments":{}}</tool_call><tool_call>{"name":"b","arguments":{"x":1}}</tool_call>',
      'Look: ',
      [
        { name: 'a', arguments: '{}' },
        { name: 'b', arguments: '{"x":1}' },
      ],
    ],
    ['<tool_call>{ "arguments": {"x": 1}, "name": "a" }</tool_call>', '', [{ name: 'a', arguments: '{"x":1}' }]],
    [
      '<tool_call>{"name":"bash","arguments":{"command":"ls"}',
      '<tool_call>{"name":"bash","arguments":{"command":"ls"}',
      [],
    ],
    [
      '<tool_call>{"name":"bash","arguments":"ls"}</tool_call>',
      '<tool_call>{"name":"bash","arguments":"ls"}</tool_call>',
      [],
    ],
    ['<tool_call>{"name":7,"arguments":{}}</tool_call>', '<tool_call>{"name":7,"arguments":{}}</tool_call>', []],
    ['<tool_call>null</tool_call>', '<tool_call>null</tool_call>', []],
    ['<tool_call>{oops}</tool_call> x', '<tool_call>{oops}</tool_call> x', []],
  ])('%s', (text, content, toolCalls) => {
    expect(codec.parse(text)).toEqual({ content, toolCalls });
  });

  it('never throws and never loses text', () => {
    const part = fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '{"name":"a","arguments":{}}',
      '{',
      '}',
      '"',
      '\\',
      'x',
      '<|end|>',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const { content, toolCalls } = codec.parse(parts.join(''));
        for (const call of toolCalls) expect(typeof JSON.parse(call.arguments)).toBe('object');
        if (toolCalls.length === 0) expect(content).toBe(parts.join(''));
      }),
      { numRuns: 2000 },
    );
  });

  it('decodes any ids', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 2047 })), (ids) => typeof codec.decode(ids) === 'string'));
  });
});
