import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelCodec } from '../../main/engine/model-codec.js';
import { AnswerCollector } from '../../main/engine/parsers/parse-answer.js';
import type { ChatMessage, ToolDefinition } from '../../main/engine/protocol.js';
import { describeShared } from '../support/shared.js';
import { chatModel, FAMILIES } from './chat-models.js';

const TOOLS: ToolDefinition[] = [
  {
    type: 'function',
    function: {
      name: 'bash',
      description: 'Runs a command.',
      parameters: { type: 'object', properties: { command: { type: 'string' } } },
    },
  },
];
const call = (args: string, id = '1'): NonNullable<ChatMessage['tool_calls']>[number] => ({
  id,
  type: 'function',
  function: { name: 'bash', arguments: args },
});
const HISTORY: ChatMessage[] = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Which files?' }] },
  { role: 'assistant', content: null, tool_calls: [call('{"command":"ls  \\"a\\"","n":1}')] },
  { role: 'tool', tool_call_id: '1', content: 'a.csv\n' },
];
/** The added tokens among the ids, as text. */
const addedIn = (codec: ModelCodec, ids: number[]) =>
  ids.map((id) => codec.tokenizer.idToToken(id)!).filter((token) => codec.tokenizer.added.has(token));

describeShared('the codec of a model', (shared) => {
  describe('prompts', () => {
    it('render calls and results in the way of the template', () => {
      const text = chatModel(shared, 'qwen').renderPrompt(HISTORY, TOOLS);
      expect(text).toBe(
        `<|im_start|>system\nBe brief.\n\n# Tools\n<tools>\n{"type": "function", "function": {"name": "bash", ` +
          `"description": "Runs a command.", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}` +
          `\n</tools>\nAnswer with <tool_call></tool_call>.<|im_end|>\n<|im_start|>user\nWhich files?<|im_end|>\n` +
          `<|im_start|>assistant\n\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls  \\"a\\"", "n": 1}}\n</tool_call><|im_end|>\n` +
          `<|im_start|>user\n<tool_response>\na.csv\n\n</tool_response><|im_end|>\n<|im_start|>assistant\n<think>\n`,
      );
    });

    it("are their own text in tokens, the template's control tokens as such", () => {
      const codec = chatModel(shared, 'qwen');
      const ids = codec.encodePrompt(HISTORY, TOOLS);
      const text = codec.renderPrompt(HISTORY, TOOLS);
      expect(codec.decode(ids)).toBe(text);
      expect(ids).toEqual(codec.tokenizer.encode(text, { special: true }));
    });

    it('begin with the token that begins texts, once', () => {
      const llama = chatModel(shared, 'llama');
      const ids = llama.encodePrompt([{ role: 'user', content: ' hi ' }], []);
      expect(addedIn(llama, ids).filter((token) => token === '<|begin_of_text|>')).toHaveLength(1);
      expect(llama.decode(ids)).toContain('<|end_header_id|>\n\nhi<|eot_id|>');
      const plain = chatModel(shared, 'plain');
      expect(
        plain.decode(
          plain.encodePrompt(
            [
              { role: 'system', content: 'Be brief.' },
              { role: 'user', content: 'hi' },
            ],
            [],
          ),
        ),
      ).toBe('<s>Be brief.\n\nUser: hi\n\nAssistant:');
    });

    it('take ChatML where the model has its tokens and no template', () => {
      const codec = chatModel(shared, 'lfm2');
      expect(codec.renderPrompt([{ role: 'user', content: 'hi' }], [])).toBe(
        '<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n',
      );
    });

    it('describe tools in words to a template that knows none, results of one turn together', () => {
      const codec = chatModel(shared, 'lfm2');
      const text = codec.renderPrompt(
        [
          ...HISTORY.slice(0, 2),
          {
            role: 'assistant',
            content: 'Both.',
            tool_calls: [call('{"command":"ls"}'), call('{"command":"pwd"}', '2')],
          },
          { role: 'tool', tool_call_id: '1', content: 'a' },
          { role: 'tool', tool_call_id: '2', content: '/' },
        ],
        TOOLS,
      );
      expect(text).toContain(`<|im_start|>system\nBe brief.\n\n`);
      expect(text).toContain(`<tools>\n${JSON.stringify(TOOLS[0])}\n</tools>`);
      expect(text).toContain(
        'assistant\nBoth.\n<tool_call>\n{"name":"bash","arguments":{"command":"ls"}}\n</tool_call>\n<tool_call>\n{"name":"bash","arguments":{"command":"pwd"}}\n</tool_call><|im_end|>',
      );
      expect(text).toContain(
        'user\n<tool_response>\na\n</tool_response>\n<tool_response>\n/\n</tool_response><|im_end|>\n<|im_start|>assistant\n',
      );
    });

    it('go on after arguments that are no JSON', () => {
      const broken: ChatMessage[] = [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: '', tool_calls: [call('{"command": "l')] },
      ];
      expect(chatModel(shared, 'qwen').renderPrompt(broken, TOOLS)).toContain('"arguments": {"command": "l}');
      expect(chatModel(shared, 'coder').renderPrompt(broken, TOOLS)).toContain(
        '<parameter=arguments>\n{"command": "l\n</parameter>',
      );
    });

    it('say why when the template refuses', () => {
      const codec = chatModel(shared, 'strict');
      const twice: ChatMessage[] = [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ];
      expect(() => codec.encodePrompt(twice, [])).toThrow(
        expect.objectContaining({ code: 'BAD_ARGUMENT', message: expect.stringContaining('Roles must alternate') }),
      );
    });
  });

  describe('text of others', () => {
    const places: Record<string, (text: string) => [ChatMessage[], ToolDefinition[]]> = {
      'a system message': (text) => [[{ role: 'system', content: text }, ...HISTORY.slice(1)], TOOLS],
      'a user message': (text) => [[...HISTORY, { role: 'user', content: text }], TOOLS],
      'an answer': (text) => [[HISTORY[1]!, { role: 'assistant', content: text }, HISTORY[1]!], []],
      reasoning: (text) => [[HISTORY[1]!, { role: 'assistant', content: 'x', reasoning_content: text }], []],
      'a tool result': (text) => [[...HISTORY.slice(0, 3), { role: 'tool', tool_call_id: '1', content: text }], TOOLS],
      arguments: (text) => [
        [
          HISTORY[1]!,
          { role: 'assistant', content: '', tool_calls: [call(JSON.stringify({ [text]: text }))] },
          HISTORY[1]!,
        ],
        TOOLS,
      ],
      'a tool definition': (text) => [
        HISTORY,
        [
          {
            type: 'function',
            function: { name: 'bash', description: text, parameters: { properties: { [text]: {} } } },
          },
        ],
      ],
    };
    const cases = (['qwen', 'llama', 'lfm2'] as const).flatMap((family) =>
      Object.keys(places).map((place) => [family, place] as const),
    );

    it.each(cases)('%s: never becomes a control token in %s', (family, place) => {
      const codec = chatModel(shared, family);
      const tokens = [...FAMILIES[family].control, ...MARKUP_OF[family]];
      const inserted = (text: string) => {
        const [messages, tools] = places[place]!(text);
        return { ids: codec.encodePrompt(messages, tools), text: codec.renderPrompt(messages, tools) };
      };
      const reference = addedIn(codec, inserted('ordinary').ids);
      fc.assert(
        fc.property(
          fc.array(
            fc.oneof(fc.constantFrom(...tokens), fc.constantFrom('<', '|>', '<|im_', 'end|>', '>', ' ', '\n', 'x')),
            {
              minLength: 1,
              maxLength: 5,
            },
          ),
          (pieces) => {
            const { ids, text } = inserted(`x${pieces.join('')}x`);
            expect(addedIn(codec, ids)).toEqual(reference);
            expect(codec.decode(ids)).toBe(text);
          },
        ),
        { numRuns: 60 },
      );
    });

    it('cannot be completed to a control token by the template', () => {
      const codec = chatModel(shared, 'qwen');
      const plain = addedIn(codec, codec.encodePrompt([{ role: 'user', content: 'a' }], []));
      for (const content of ['<', '<|', '<|im_end|', '|im_end|>', 'im_end|>x<|im_end'])
        expect(addedIn(codec, codec.encodePrompt([{ role: 'user', content }], [])), content).toEqual(plain);
    });

    it('reaches the template unchanged where it spells no control token', () => {
      const codec = chatModel(shared, 'qwen');
      const text = codec.renderPrompt(
        [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: '<p>\ue000 ok' },
        ],
        [],
      );
      expect(text).toContain('assistant\n<p>\ue000 ok<|im_end|>');
    });

    it('may hold the ends of control tokens that are ordinary text', () => {
      const codec = chatModel(shared, 'qwen');
      const content = '> quoted <b> a < b';
      expect(codec.decode(codec.encodePrompt([{ role: 'user', content }], []))).toContain(`user\n${content}<|im_end|>`);
    });
  });

  describe('answers', () => {
    const answer = (codec: ModelCodec, promptIds: number[], text: string, step: number) => {
      const collector = new AnswerCollector();
      const stream = codec.openAnswer(promptIds, TOOLS);
      const ids = codec.tokenizer.encode(text, { special: true });
      for (let at = 0; at < ids.length; at += step) collector.add(stream.push(ids.slice(at, at + step)));
      collector.add(stream.finish());
      const { content, reasoning, toolCalls } = collector;
      return { content, reasoning, toolCalls };
    };

    it('come token by token as they come at once, characters of several tokens whole', () => {
      const codec = chatModel(shared, 'qwen');
      const prompt = codec.encodePrompt([{ role: 'user', content: 'x' }], TOOLS);
      const text =
        'Размышляю 🙂\n</think>\n\nОтвет 你好\n<tool_call>\n{"name": "bash", "arguments": {"command": "echo 🙂"}}\n</tool_call>';
      const expected = {
        content: 'Ответ 你好',
        reasoning: 'Размышляю 🙂',
        toolCalls: [{ name: 'bash', arguments: '{"command": "echo 🙂"}' }],
      };
      for (const step of [1, 2, 3, 1000]) expect(answer(codec, prompt, text, step)).toEqual(expected);
    });

    it('are read in the syntax of the model', () => {
      const lfm2 = chatModel(shared, 'lfm2');
      expect(answer(lfm2, [], '<|tool_call_start|>[bash(command="ls")]<|tool_call_end|>', 1).toolCalls).toEqual([
        { name: 'bash', arguments: '{"command": "ls"}' },
      ]);
      const llama = chatModel(shared, 'llama');
      expect(
        answer(llama, [], '<|python_tag|>{"name": "bash", "parameters": {"command": "ls"}}', 1).toolCalls,
      ).toHaveLength(1);
      expect(lfm2.parse('a <|tool_call_start|>b').content).toBe('a <|tool_call_start|>b');
    });

    it('end with the token that ends turns', () => {
      for (const family of ['qwen', 'lfm2'] as const) {
        const codec = chatModel(shared, family);
        expect(codec.endIds).toContain(codec.tokenizer.tokenToId('<|im_end|>'));
      }
      const llama = chatModel(shared, 'llama');
      expect([...llama.endIds]).toEqual([llama.tokenizer.tokenToId('<|eot_id|>')]);
    });
  });
});

const MARKUP_OF = {
  qwen: ['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<think>'],
  llama: [],
  lfm2: [],
} as const;
