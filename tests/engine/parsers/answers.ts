/** Answers in every syntax, well formed and not, for the parsers' tests. */
import fc from 'fast-check';
import type { AnswerFormats, Delta } from '../../../main/engine/parsers/answer-parser.js';
import { detectFormats } from '../../../main/engine/parsers/detect-formats.js';
import { MarkupParser } from '../../../main/engine/parsers/markup-parser.js';
import { AnswerCollector, type CollectedAnswer } from '../../../main/engine/parsers/parse-answer.js';
import type { ToolDefinition } from '../../../main/engine/protocol.js';

export const TOOLS: ToolDefinition[] = [
  {
    type: 'function',
    function: {
      name: 'bash',
      parameters: {
        type: 'object',
        properties: { command: { type: 'string' }, timeout: { type: 'integer' }, dry: { type: 'boolean' } },
      },
    },
  },
  {
    type: 'function',
    function: {
      name: 'edit',
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          lines: { type: 'array', items: { type: 'integer' } },
          options: { type: ['object', 'null'] },
          limit: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        },
      },
    },
  },
];

/** Formats by the model family whose template asks for them. */
export const FORMATS: Readonly<Record<string, AnswerFormats>> = {
  qwen3: detectFormats('<tool_call>{"name": … <think>', () => false),
  coder: detectFormats('<tool_call><function=example>', () => false),
  lfm2: detectFormats('<|tool_call_start|>', () => false),
  llama3: detectFormats('', (token) => token === '<|python_tag|>'),
};

/** What comes of an answer that arrives in these pieces. */
export function answerIn(pieces: readonly string[], formats: AnswerFormats, thinking = false): CollectedAnswer {
  const parser = new MarkupParser(formats, TOOLS, thinking);
  const deltas: Delta[] = pieces.flatMap((piece) => parser.push(piece));
  deltas.push(...parser.finish());
  const collector = new AnswerCollector();
  collector.add(deltas);
  const { content, reasoning, toolCalls } = collector;
  return { content, reasoning, toolCalls };
}

/** Pieces of markup and of ordinary text in any order: mostly malformed. */
export const anyAnswer = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<tool_call>',
        '</tool_call>',
        '<function=bash>',
        '<function=edit>',
        '</function>',
        '<parameter=command>',
        '</parameter>',
        '<|tool_call_start|>',
        '<|tool_call_end|>',
        '<|python_tag|>',
        '<think>',
        '</think>',
        '{"name": "bash", "arguments": {"command": "ls"}}',
        '{"name": "bash", "parameters": {"command": "</tool_call>"}}',
        '[bash(command="ls", timeout=3)]',
        "bash(command='it\\'s')",
        '{',
        '}',
        '[',
        ']',
        '"',
        "'",
        '\\',
        ';',
        '\n',
        '\n\n',
        ' ',
        'Let me look.',
        '<',
        'ж🙂',
      ),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
    ),
    { maxLength: 10 },
  )
  .map((pieces) => pieces.join(''));
